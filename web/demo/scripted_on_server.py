"""The agent `support` on a scripted model that the page's own server plays: real HTTP, no key, no network."""

from js import location
from support_agent import support_agent

import langfx_web as lf

agent = support_agent("support", lf.llms.Anthropic(model="scripted-support", base_url=f"{location.origin}/v1"))
