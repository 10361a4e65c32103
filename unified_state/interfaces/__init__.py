"""Entry points of hooks, commands and servers. Clients' settings name the modules in this folder, so never rename
them.
"""
