"""The agent `support-live`: the same desk on a real model, with the key that the visitor typed into the page."""

from support_agent import support_agent

import langfx_web as lf

MODEL = "claude-sonnet-5"

agent = support_agent("support-live", lf.llms.Anthropic(model=MODEL, api_key=lf.page_credential("anthropic")))
