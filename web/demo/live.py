"""The agent `support-live`: the same desk on the model that the visitor has chosen."""

from support_agent import support_agent
from visitors_model import visitors_model

agent = support_agent("support-live", visitors_model)
