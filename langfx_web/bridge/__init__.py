"""The worker's end of the channel to the page: everything is put together here.

May import every layer. Read `dispatch.py` first; `entry.py` alone touches JavaScript.
"""
