"""NodePorts: host ports that a pod wants and another may have taken.

`plugin` answers.
"""
