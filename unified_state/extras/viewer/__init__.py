"""The viewer: pages of a project's memory, for a browser on this machine, and a file.

Only this folder imports Starlette, uvicorn and Jinja.
"""
