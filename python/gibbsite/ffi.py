# SPDX-License-Identifier: Apache-2.0
"""Calls the installed shared library by ctypes, for machines without a compiler: questions about a model in a file.

    from gibbsite import ffi            # or a copy of this file alone
    m = ffi.Model("clinic.bif")
    m.query("cold", evidence="fever=yes")["cold"]["yes"]

The library is looked for as ``libgibbsite.so.0.2``; the environment variable GIBBSITE_LIBRARY names another file.
"""
import ctypes as C
import os

_STATUS = {-1: "memory", -2: "argument", -3: "format", -4: "io", -5: "state", -6: "limit", -7: "impossible",
           -8: "unsupported", -9: "stopped", -10: "not found"}


class Error(Exception):
    """An error of the library; ``status`` is one word for its kind."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


class _ErrorStruct(C.Structure):
    _fields_ = [("status", C.c_int), ("message", C.c_char * 1024)]


class _Answer(C.Structure):  # gbs_answer of gibbsite/query.h
    _fields_ = [("size", C.c_size_t), ("n_variables", C.c_uint32), ("exact", C.c_int), ("variable", C.POINTER(C.c_uint32)),
                ("offset", C.POINTER(C.c_size_t)), ("p", C.POINTER(C.c_double)), ("mcse", C.POINTER(C.c_double)),
                ("ess", C.POINTER(C.c_double)), ("rhat", C.POINTER(C.c_double)), ("log_evidence", C.c_double),
                ("converged", C.c_int), ("reserved", C.c_int), ("verdict", C.c_char * 256)]


_library = None


def library():
    """The loaded library, with the types of the calls that this file makes."""
    global _library
    if _library is None:
        lib = C.CDLL(os.environ.get("GIBBSITE_LIBRARY", "libgibbsite.so.0.2"))
        text, pointer = C.c_char_p, C.c_void_p
        for name, result, arguments in [
                ("gbs_version", text, []),
                ("gbs_model_read", C.c_int, [text, pointer, C.POINTER(pointer), C.POINTER(_ErrorStruct)]),
                ("gbs_model_write", C.c_int, [pointer, text, pointer, C.POINTER(_ErrorStruct)]),
                ("gbs_model_free", None, [pointer]),
                ("gbs_model_n_variables", C.c_uint32, [pointer]),
                ("gbs_model_arity", C.c_uint32, [pointer, C.c_uint32]),
                ("gbs_model_variable_name", text, [pointer, C.c_uint32]),
                ("gbs_model_state_label", text, [pointer, C.c_uint32, C.c_uint32]),
                ("gbs_model_digest", text, [pointer]),
                ("gbs_run_options_init", C.c_int, [pointer, C.c_size_t, C.POINTER(_ErrorStruct)]),
                ("gbs_option_set", C.c_int, [pointer, text, text, C.POINTER(_ErrorStruct)]),
                ("gbs_query", C.c_int, [pointer, text, text, pointer, C.POINTER(_Answer), C.POINTER(_ErrorStruct)]),
                ("gbs_answer_free", None, [C.POINTER(_Answer)]),
                ("gbs_evidence_new", C.c_int, [pointer, C.POINTER(pointer), C.POINTER(_ErrorStruct)]),
                ("gbs_evidence_add", C.c_int, [pointer, text, C.POINTER(_ErrorStruct)]),
                ("gbs_evidence_free", None, [pointer]),
                ("gbs_exact_log_z", C.c_int,
                 [pointer, pointer, pointer, C.POINTER(C.c_double), C.POINTER(_ErrorStruct)]),
                ("gbs_map", C.c_int, [pointer, pointer, pointer, pointer, C.POINTER(C.c_uint32), pointer,
                                      C.POINTER(_ErrorStruct)])]:
            call = getattr(lib, name)
            call.restype, call.argtypes = result, arguments
        _library = lib
    return _library


def _check(status, error):
    if status < 0:
        raise Error(error.message.decode("utf-8", "replace"), _STATUS.get(status, "unknown"))


class _Options:
    """gbs_run_options as bytes. Fields are set by name, so that larger structs of later versions also work."""

    def __init__(self, given):
        error = _ErrorStruct()
        self.bytes = C.create_string_buffer(4096)
        _check(library().gbs_run_options_init(self.bytes, len(self.bytes), error), error)
        for name, value in given.items():
            value = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
            _check(library().gbs_option_set(self.bytes, name.encode(), str(value).encode(), error), error)


class Answer(dict):
    """{name: {state: probability}}, with ``errors`` of the same form, ``exact``, ``converged``, ``verdict``, ``log_evidence``."""


class Model:
    """A model read from a file of any format that ``gibbsite convert`` reads."""

    def __init__(self, path):
        error, model = _ErrorStruct(), C.c_void_p()
        self._free = library().gbs_model_free  # still valid when the interpreter ends
        self._model = None
        _check(library().gbs_model_read(os.fsencode(path), None, C.byref(model), error), error)
        self._model = model

    def __del__(self):
        if getattr(self, "_model", None) is not None:
            self._free(self._model)

    @property
    def names(self):
        """The names of the variables. A variable without a name has its number as text."""
        lib = library()
        return [(lib.gbs_model_variable_name(self._model, v) or str(v).encode()).decode()
                for v in range(lib.gbs_model_n_variables(self._model))]

    @property
    def digest(self):
        return library().gbs_model_digest(self._model).decode()

    def states(self, v):
        """The labels of the states of variable number v."""
        lib = library()
        return [(lib.gbs_model_state_label(self._model, v, a) or str(a).encode()).decode()
                for a in range(lib.gbs_model_arity(self._model, v))]

    def write(self, path):
        error = _ErrorStruct()
        _check(library().gbs_model_write(self._model, os.fsencode(path), None, error), error)

    def query(self, *names, evidence="", **options):
        """Return P(variable = state | evidence) of the named variables, or of all variables.

        evidence : a text such as "fever=yes, age!=old"; options : options of ``gibbsite marginals``, with ``_`` for ``-``
        """
        error, found = _ErrorStruct(), _Answer(size=C.sizeof(_Answer))
        asked = ",".join(names).encode() if names else None
        _check(library().gbs_query(self._model, evidence.encode(), asked, _Options(options).bytes, C.byref(found), error),
               error)
        answer, answer.errors, all_names = Answer(), {}, self.names
        for i in range(found.n_variables):
            v, labels = found.variable[i], self.states(found.variable[i])
            at = found.offset[i]
            answer[all_names[v]] = {a: found.p[at + k] for k, a in enumerate(labels)}
            answer.errors[all_names[v]] = {a: found.mcse[at + k] for k, a in enumerate(labels)}
        answer.exact, answer.converged = bool(found.exact), bool(found.converged)
        answer.verdict, answer.log_evidence = found.verdict.decode(), found.log_evidence
        library().gbs_answer_free(C.byref(found))
        return answer

    def _evidence(self, text):
        error, evidence = _ErrorStruct(), C.c_void_p()
        _check(library().gbs_evidence_new(self._model, C.byref(evidence), error), error)
        if text:
            status = library().gbs_evidence_add(evidence, text.encode(), error)
            if status < 0:
                library().gbs_evidence_free(evidence)
            _check(status, error)
        return evidence

    def logz(self, evidence=""):
        """Return ln Z given evidence, by junction trees. Raises Error with status "limit" if the trees do not fit into memory."""
        error, value, observed = _ErrorStruct(), C.c_double(), self._evidence(evidence)
        status = library().gbs_exact_log_z(self._model, observed, None, C.byref(value), error)
        library().gbs_evidence_free(observed)
        _check(status, error)
        return value.value

    def mpe(self, evidence="", **options):
        """Return the most probable state {name: label}, or the best state that a search found."""
        error, observed = _ErrorStruct(), self._evidence(evidence)
        state = (C.c_uint32 * library().gbs_model_n_variables(self._model))()
        status = library().gbs_map(self._model, observed, _Options(options).bytes, None, state, None, error)
        library().gbs_evidence_free(observed)
        _check(status, error)
        return {name: self.states(v)[state[v]] for v, name in enumerate(self.names)}
