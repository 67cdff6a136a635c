"""Every error a caller can meet: one tree, each class with a stable `.code` and `.retryable`.

    LangfxError
      InvalidArgumentError            invalid_argument, no_model
      InvalidValueError               invalid_message, invalid_tool_call, invalid_modality, invalid_agent, …
      ImageError                      invalid_image, image_too_large
      JSONTextError                   json_invalid, json_too_deep
      NotPortableError                not_portable, message_too_large, message_too_deep
      TemplateError                   template_invalid, template_variable_missing
      SchemaError                     schema_unsupported
      SchemaMismatchError             schema_mismatch
      OutputValidationError           output_invalid
        OutputSyntaxError             output_syntax
        OutputForbiddenError          output_forbidden
        OutputNameError               output_name
        OutputMismatchError           output_mismatch
        OutputLimitError              output_limit
        MappingError                  mapping_failed
      TransportError                  unreachable, body_broken, connect_timeout, idle_timeout, …
      LMError                         lm_error
        LMInputError                  invalid_request, insecure_url, mixed_content
          UnsupportedCapabilityError  unsupported_capability
            UnsupportedSettingError   model_unsupported_effort, model_unsupported_fast, model_unsupported_ultrafast
          ModelNotFoundError          model_not_found
          ContextLimitError           context_limit
        AuthenticationError           authentication
        QuotaExceededError            quota_exceeded
        RateLimitError                rate_limit
        TemporaryLMError              temporary
          LMConnectionError           connection
          LMTimeoutError              timeout
        LMProtocolError               protocol
        IncompleteGenerationError     incomplete_generation
        ContentFilteredError          content_filtered
        EmptyGenerationError          empty_generation
        MalformedGenerationError      malformed_generation
      ToolError
        ToolNameTakenError            tool_name_taken
        ToolNotFoundError             tool_not_found
        ToolArgumentError             tool_arguments_invalid
        ToolDeniedError               tool_denied
        ToolExecutionError            tool_failed
          ToolOutputError             tool_output_invalid
          ToolTimeoutError            tool_timeout
      GateAnswerError                 gate_answer_invalid
      GateDeclinedError               gate_declined
      GateNotFoundError               gate_not_found
      GateTimeoutError                gate_timeout
      GateUnsupportedError            gate_unsupported
      HookError                       hook_failed
      BudgetExceededError             budget_exceeded
      DeadlineExceededError           deadline_exceeded
      SessionClosedError              session_closed
      SessionCancelledError           session_cancelled
      TraceFullError                  trace_full
      StoreError                      append_failed, store_full, store_closed, store_unavailable, session_missing
        FencedError                   fenced
      JournalInvalidError             journal_invalid
      JournalVersionError             journal_version
      JournalTooLargeError            journal_too_large
      InputTooLargeError              input_too_large
      MessageIdInUseError             message_id_in_use
      NoAgentError                    no_agent
      AgentNameInUseError             agent_name_in_use
      AgentClosedError                agent_closed
      CredentialsError                credentials_failed
      BootError                       boot_failed, boot_blocked, boot_timeout, download_failed, integrity_failed,
                                      unsupported_browser
      WorkerStoppedError              worker_stopped
      BridgeClosedError               bridge_closed
      BridgeError                     bridge_protocol, bridge_version, too_many_commands
      PackageError                    package_failed
      TargetNotFoundError             target_not_found
      UserModuleError                 module_failed
      UserCodeError                   user_code_failed
      FakeExhaustedError              fake_exhausted
      FakeMissError                   fake_miss

An error knows texts, numbers and ids, never the class of a message; `.partial` is whatever its raiser put there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class LangfxError(Exception):
    """The root of the tree: what happened, a stable code, whether trying again can help, facts for a program."""

    default_code: ClassVar[str] = "error"
    default_retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        retryable: bool | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code or self.default_code
        self.retryable = self.default_retryable if retryable is None else retryable
        self.details: dict[str, Any] = dict(details or {})

    @property
    def message(self) -> str:
        """The text of the error."""
        return str(self.args[0])


class InvalidArgumentError(LangfxError, ValueError):
    """An option of ours has a value it cannot have; `details["option"]` names it."""

    default_code = "invalid_argument"


class InvalidValueError(LangfxError, ValueError):
    """A value given to us is malformed; the code says which kind of value, `.details` what is wrong with it."""

    default_code = "invalid_value"


class ImageError(LangfxError, ValueError):
    """An image cannot be sent: its bytes are something else, which `details["found"]` names, or too many."""

    default_code = "invalid_image"


class JSONTextError(LangfxError, ValueError):
    """A text is not JSON as RFC 8259 has it, or is nested too deeply to be read safely."""

    default_code = "json_invalid"


class NotPortableError(LangfxError, ValueError):
    """A value cannot cross between page and worker or be written as JSON; `.path` leads to it."""

    default_code = "not_portable"

    def __init__(self, message: str, *, path: tuple[str | int, ...] = (), code: str | None = None) -> None:
        super().__init__(message, code=code, details={"path": list(path)})
        self.path = path


class TemplateError(LangfxError, ValueError):
    """A template cannot be read, lacks variables, or was given a value that has no place in a text.

    `.line` and `.column`, from 1, lead to what is wrong in the template's text; `.names` lists the paths without value.
    """

    default_code = "template_invalid"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        line: int | None = None,
        column: int | None = None,
        names: Sequence[str] = (),
    ) -> None:
        facts = {"line": line, "column": column, "names": list(names) or None}
        super().__init__(message, code=code, details={name: fact for name, fact in facts.items() if fact is not None})
        self.line = line
        self.column = column
        self.names = tuple(names)


class SchemaError(LangfxError, TypeError):
    """A Python type cannot be offered to a model; `.path` has the names of the fields that lead to what cannot."""

    default_code = "schema_unsupported"

    def __init__(self, message: str, *, path: tuple[str, ...] = ()) -> None:
        super().__init__(message, details={"path": list(path)})
        self.path = path


class SchemaMismatchError(LangfxError, ValueError):
    """A value does not fit a schema; `.problems` lists every way in which it does not, as `{type, path, message}`."""

    default_code = "schema_mismatch"

    def __init__(self, message: str, *, problems: list[dict[str, Any]]) -> None:
        super().__init__(message, details={"problems": problems})
        self.problems = problems


class OutputValidationError(LangfxError, ValueError):
    """What a model wrote is not a value of the wanted type; nothing of it was run.

    `.path` leads to the part that is wrong, `.problems` lists `{type, path, message}`, `.offset` is a place in the
    answer's text where one is known, `.excerpt` has at most 200 characters from there.
    """

    default_code = "output_invalid"

    def __init__(
        self,
        message: str,
        *,
        path: tuple[str | int, ...] = (),
        problems: list[dict[str, Any]] | None = None,
        offset: int | None = None,
        excerpt: str = "",
    ) -> None:
        super().__init__(message)
        self.path = path
        self.problems = problems or []
        self.offset = offset
        self.excerpt = excerpt[:200]
        facts = {"path": list(path), "problems": self.problems, "offset": offset, "excerpt": self.excerpt}
        self.details = {name: fact for name, fact in facts.items() if fact not in (None, "", [])}

    def locate(self, text: str, offset: int) -> None:
        """Say where in the answer the fault is."""
        self.offset = offset
        self.excerpt = text[offset : offset + 200]
        self.details |= {"offset": offset, "excerpt": self.excerpt}


class OutputSyntaxError(OutputValidationError):
    """No value, an unclosed one, a bad token, text after the value, or a key given twice."""

    default_code = "output_syntax"


class OutputForbiddenError(OutputValidationError):
    """Valid Python that is more than a value: operators, attributes, statements and the like."""

    default_code = "output_forbidden"


class OutputNameError(OutputValidationError):
    """A name or call that the wanted type does not have; the message lists those it has."""

    default_code = "output_name"


class OutputMismatchError(OutputValidationError):
    """A well-formed value of another type."""

    default_code = "output_mismatch"


class OutputLimitError(OutputValidationError):
    """The answer is longer, deeper or larger than may be read; `details["limit"]` names the bound."""

    default_code = "output_limit"

    def __init__(self, message: str, *, limit: str) -> None:
        super().__init__(message)
        self.limit = limit
        self.details = {"limit": limit}


class MappingError(OutputValidationError):
    """No value could be made of a model's answer; the text says what is wrong and where, with an excerpt.

    `.lm_response` is the whole answer, `.cause` one of the output errors or the exception of a hook, which `.hook` then
    names. `.attempts` counts the requests, repairs included. `.cache_invalidation_error` is why the answer is still in
    the model's cache, where it could not be removed.
    """

    default_code = "mapping_failed"

    def __init__(
        self,
        message: str,
        *,
        lm_response: Any,
        cause: Exception,
        hook: str | None = None,
        attempts: int = 1,
        cache_invalidation_error: Exception | None = None,
        **place: Any,
    ) -> None:
        super().__init__(message, **place)
        self.lm_response = lm_response
        self.cause = cause
        self.hook = hook
        self.attempts = attempts
        self.cache_invalidation_error = cache_invalidation_error
        self.__cause__ = cause
        self.details["cause"] = getattr(cause, "code", type(cause).__name__)

    @classmethod
    def of(cls, cause: Exception, lm_response: Any, *, hook: str = "parse_result") -> MappingError:
        """The error that a cause makes of an answer, a message with a text; `hook` is what raised it.

        The text of a foreign exception is left to its traceback: it may hold anything.
        """
        excerpt = lm_response.text[:200]
        if not isinstance(cause, OutputValidationError):
            what = f"{hook} raised {type(cause).__name__}: {excerpt!r}"
            return cls(what, lm_response=lm_response, cause=cause, hook=hook, excerpt=excerpt)
        excerpt = cause.excerpt or excerpt
        where = "" if cause.offset is None else f" at character {cause.offset}"
        return cls(
            f"{cause.message[:1000]}{where}: {excerpt!r}",
            lm_response=lm_response,
            cause=cause,
            hook=None if hook == "parse_result" else hook,
            path=cause.path,
            problems=cause.problems,
            offset=cause.offset,
            excerpt=excerpt,
        )


class TransportError(LangfxError):
    """One HTTP exchange failed below the level of any provider; the code says how."""

    default_code = "unreachable"

    RETRYABLE: ClassVar[frozenset[str]] = frozenset({"unreachable", "body_broken", "connect_timeout", "idle_timeout"})

    def __init__(self, message: str, *, code: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, code=code, retryable=code in self.RETRYABLE, details=details)


class LMError(LangfxError):
    """A model request failed.

    `.partial` holds what had arrived (an AIMessage or None), `.usage` a lower bound of what it cost.
    """

    default_code = "lm_error"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        retryable: bool | None = None,
        details: Mapping[str, Any] | None = None,
        provider: str | None = None,
        model: str | None = None,
        status: int | None = None,
        provider_code: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        partial: Any = None,
        usage: Any = None,
        finish_reason: str | None = None,
        raw_finish_reason: str | None = None,
        refusal: str | None = None,
        attempts: int = 1,
    ) -> None:
        super().__init__(message, code=code, retryable=retryable, details=details)
        self.provider = provider
        self.model = model
        self.status = status
        self.provider_code = provider_code
        self.request_id = request_id
        self.retry_after = retry_after
        self.partial = partial
        self.usage = usage
        self.finish_reason = finish_reason
        self.raw_finish_reason = raw_finish_reason
        self.refusal = refusal
        self.attempts = attempts


class LMInputError(LMError):
    """The request itself is wrong: refused by the provider, or by our own checks before anything was sent."""

    default_code = "invalid_request"


class UnsupportedCapabilityError(LMInputError):
    """The request needs what this model or wire does not have; nothing was sent."""

    default_code = "unsupported_capability"


class UnsupportedSettingError(UnsupportedCapabilityError):
    """A session asked for what its model does not have: `.capability` is `effort`, `fast` or `ultrafast`.

    `.supported` names what there is instead, as far as it is known.
    """

    default_code = "model_unsupported_effort"

    def __init__(self, *, model: str, capability: str, supported: Sequence[str] = ()) -> None:
        offered = f": it has {', '.join(supported)}" if supported else ""
        super().__init__(
            f"the model {model!r} does not support this {capability} setting{offered}",
            code=f"model_unsupported_{capability}",
            model=model,
            details={"capability": capability, "supported": list(supported)},
        )
        self.capability = capability
        self.supported = tuple(supported)


class ModelNotFoundError(LMInputError):
    """The provider does not know the model."""

    default_code = "model_not_found"


class ContextLimitError(LMInputError):
    """The conversation does not fit the model's context window."""

    default_code = "context_limit"


class AuthenticationError(LMError):
    """The provider refused the credential."""

    default_code = "authentication"


class QuotaExceededError(LMError):
    """The account has no credit left."""

    default_code = "quota_exceeded"


class RateLimitError(LMError):
    """Too many requests; `.retry_after` has the provider's wait in seconds where it said one."""

    default_code = "rate_limit"
    default_retryable = True


class TemporaryLMError(LMError):
    """The provider failed in a way that usually passes."""

    default_code = "temporary"
    default_retryable = True


class LMConnectionError(TemporaryLMError):
    """The connection to the provider could not be made or broke."""

    default_code = "connection"


class LMTimeoutError(TemporaryLMError):
    """A time limit of the request passed."""

    default_code = "timeout"


class LMProtocolError(LMError):
    """The provider's answer breaks its own wire format."""

    default_code = "protocol"


class IncompleteGenerationError(LMError):
    """The answer stops before its end: output limit, or a stream without its terminal event."""

    default_code = "incomplete_generation"


class ContentFilteredError(LMError):
    """The provider or the model refused; `.refusal` has its words where it gave any."""

    default_code = "content_filtered"


class EmptyGenerationError(LMError):
    """A successful answer without text or tool call."""

    default_code = "empty_generation"
    default_retryable = True


class MalformedGenerationError(LMError):
    """The provider could not use what its model wrote."""

    default_code = "malformed_generation"
    default_retryable = True


class ToolError(LangfxError):
    """Something about a tool call went wrong; `.tool` is the name that was called."""

    default_code = "tool_error"

    def __init__(self, message: str, *, tool: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, details=details)
        self.tool = tool


class ToolNameTakenError(ToolError, ValueError):
    """Two tools have the same name where each name is one tool."""

    default_code = "tool_name_taken"


class ToolNotFoundError(ToolError):
    """No tool has the called name."""

    default_code = "tool_not_found"


class ToolArgumentError(ToolError):
    """The arguments do not fit the tool's input schema; `details["problems"]` lists `{type, path, message}`."""

    default_code = "tool_arguments_invalid"


class ToolDeniedError(ToolError):
    """The call was not allowed, by a rule of the app or by a person; the tool did not run.

    An agent's `allow_tool` raises it with a reason, which the model is told; the loop knows which tool was meant.
    """

    default_code = "tool_denied"

    def __init__(self, reason: str = "", *, tool: str = "", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(reason, tool=tool, details=details)


class ToolExecutionError(ToolError):
    """The tool's function raised; its exception is the `__cause__`."""

    default_code = "tool_failed"


class ToolOutputError(ToolExecutionError):
    """The tool ran, but what it returned cannot be given to a model."""

    default_code = "tool_output_invalid"


class ToolTimeoutError(ToolExecutionError):
    """The tool did not finish within its time limit and was cancelled."""

    default_code = "tool_timeout"


class GateAnswerError(LangfxError, ValueError):
    """An answer to a question of a turn does not fit what was asked; the question stays open."""

    default_code = "gate_answer_invalid"


class GateDeclinedError(LangfxError):
    """Whoever was asked declined to answer; the message has their reason."""

    default_code = "gate_declined"


class GateNotFoundError(LangfxError):
    """No question of that id is open: it was answered, has ended or never was."""

    default_code = "gate_not_found"


class GateTimeoutError(LangfxError, TimeoutError):
    """A question of a turn was not answered in time."""

    default_code = "gate_timeout"


class GateUnsupportedError(LangfxError):
    """A tool or hook asked a person where nobody can be asked."""

    default_code = "gate_unsupported"


class HookError(LangfxError):
    """A function of the app that a turn calls on its way raised; its exception is the `__cause__`."""

    default_code = "hook_failed"


class BudgetExceededError(LangfxError):
    """A limit on steps, calls or tokens was reached; `.limit` names it."""

    default_code = "budget_exceeded"

    def __init__(self, message: str, *, limit: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, details=details)
        self.limit = limit


class DeadlineExceededError(LangfxError, TimeoutError):
    """The time given to the work is over."""

    default_code = "deadline_exceeded"
    default_retryable = True


class SessionClosedError(LangfxError):
    """Work was started on a session or view that has ended."""

    default_code = "session_closed"


class SessionCancelledError(LangfxError):
    """The session this work ran in was cancelled by someone else."""

    default_code = "session_cancelled"


class TraceFullError(LangfxError):
    """The trace of a session has as many nodes as it may have; the work was not started."""

    default_code = "trace_full"


class StoreError(LangfxError):
    """A store could not do what was asked; the code says why."""

    default_code = "append_failed"

    RETRYABLE: ClassVar[frozenset[str]] = frozenset({"append_failed", "store_full", "store_closed", "store_blocked"})

    def __init__(self, message: str, *, code: str | None = None, details: Mapping[str, Any] | None = None) -> None:
        chosen = code or self.default_code
        super().__init__(message, code=chosen, retryable=chosen in self.RETRYABLE, details=details)


class FencedError(StoreError):
    """Another worker has taken the conversation over; nothing was written."""

    default_code = "fenced"


class JournalInvalidError(LangfxError):
    """A stored record is missing, doubled or unreadable; `.seq` is its place."""

    default_code = "journal_invalid"

    def __init__(self, message: str, *, seq: int | None = None) -> None:
        super().__init__(message, details={"seq": seq})
        self.seq = seq


class JournalVersionError(LangfxError):
    """The conversation was written by a newer release; nothing was changed."""

    default_code = "journal_version"


class JournalTooLargeError(LangfxError):
    """The conversation has reached its size limit."""

    default_code = "journal_too_large"


class InputTooLargeError(LangfxError):
    """A prompt is larger than may be stored; nothing was stored."""

    default_code = "input_too_large"


class MessageIdInUseError(LangfxError):
    """The message id already names an input of another kind in this conversation."""

    default_code = "message_id_in_use"


class NoAgentError(LangfxError):
    """No agent of that name is defined here; `.agent` is the name."""

    default_code = "no_agent"
    default_retryable = True

    def __init__(self, message: str, *, agent: str) -> None:
        super().__init__(message, details={"agent": agent})
        self.agent = agent


class AgentNameInUseError(LangfxError):
    """Another agent with other settings has this name."""

    default_code = "agent_name_in_use"


class AgentClosedError(LangfxError):
    """The agent was closed and takes no new work."""

    default_code = "agent_closed"


class CredentialsError(LangfxError):
    """The page did not provide a usable credential."""

    default_code = "credentials_failed"


class BootError(LangfxError):
    """Python, or a part of it that comes later, did not start; `details["file"]` and `["status"]` name a download."""

    default_code = "boot_failed"


class WorkerStoppedError(LangfxError):
    """The worker is gone, and what it was asked for with it; `connect` makes a new one."""

    default_code = "worker_stopped"
    default_retryable = True


class BridgeClosedError(LangfxError):
    """The page has closed the bridge."""

    default_code = "bridge_closed"


class BridgeError(LangfxError):
    """A message between page and worker breaks their protocol."""

    default_code = "bridge_protocol"


class PackageError(LangfxError):
    """Packages that the page asked for are not there; `.names` lists them."""

    default_code = "package_failed"

    def __init__(
        self,
        message: str,
        *,
        names: Sequence[str],
        retryable: bool | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, retryable=retryable, details={"names": list(names), **(details or {})})
        self.names = tuple(names)


class TargetNotFoundError(LangfxError):
    """`call` or `stream` named no public function of the page's modules."""

    default_code = "target_not_found"


class UserModuleError(LangfxError):
    """A module of the page could not be imported; `.module`, and in `.details` file, line and traceback."""

    default_code = "module_failed"

    def __init__(self, message: str, *, module: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, details={"module": module, **(details or {})})
        self.module = module


class UserCodeError(LangfxError):
    """A function of the page's modules raised; `details["type"]` and `details["traceback"]` say what and where."""

    default_code = "user_code_failed"


class FakeExhaustedError(LangfxError, IndexError):
    """A scripted model was asked more often than its script has answers."""

    default_code = "fake_exhausted"


class FakeMissError(LangfxError, KeyError):
    """A scripted model was asked what its script has no answer to; `.key` is that, `.known` lists what it has."""

    default_code = "fake_miss"

    def __init__(self, key: str, *, known: tuple[str, ...]) -> None:
        listed = ", ".join(_shortened(said) for said in known) or "nothing"
        super().__init__(f"there is no answer to {_shortened(key)}; known: {listed}")
        self.key = key
        self.known = known

    def __str__(self) -> str:
        return self.message  # that of a KeyError would be quoted


def _shortened(text: str, most: int = 80) -> str:
    return repr(text if len(text) <= most else text[: most - 1] + "…")
