"""The viewer: pages of a project's memory, for a browser on this machine, a file, and a terminal.

Only this folder imports Starlette, uvicorn, Jinja and Textual.
"""
