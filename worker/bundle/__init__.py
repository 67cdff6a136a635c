"""The steps behind `build.py`: downloads, wheels, lock, dist, environments, test tiers and the test server.

Standard library only, for the interpreter that runs `build.py`. Start with `dist.py`.
"""
