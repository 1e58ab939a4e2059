"""Places where a small fault can be put, found in the syntax trees of libclang (Debian's python3-clang).

A fault is a dictionary: `file`, `line`, `begin` and `end` (bytes of the file), `rule`, `text` (the code that is there)
and `becomes` (what takes its place, with @ for the switch that turns the fault on).

The rules: comparison (one boundary or direction), sign, order (of operands or arguments), extreme (min and max, first
and last), term (one is dropped), constant (one more or less, true and false), axes (rows and columns, width and
height), field (left at its default, or an assignment dropped), branch (never taken, or a call skipped) and unit
(thousands of time, bits and bytes).

What the compiler evaluates has no faults, for no switch reaches it: template arguments, cases, constexpr variables.
Headers have none, either: a fault there would compile all tests anew (mutant_runs.py), and half of their lines are
values that members have until they get another.
"""
import hashlib
import json
import os
import random
import re
import shlex
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from changes import sources_of
from missing_includes import ROOT, Tree

FOLDERS = ("base", "hw", "compiler", "sim")
CLANG = "/usr/lib/llvm-14/lib/libclang-14.so.1"

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&"}
SIGNS = {"+": "-", "-": "+", "+=": "-=", "-=": "+="}
EXTREMES = {"min": "max", "max": "min", "fmin": "fmax", "fmax": "fmin", "min_element": "max_element",
            "max_element": "min_element", "any_of": "all_of", "all_of": "any_of", "lower_bound": "upper_bound",
            "upper_bound": "lower_bound", "floor": "ceil", "ceil": "floor", "front": "back", "back": "front"}
# Parts of names that stand for one of two axes, ends or directions.
PARTNERS = (("row", "column"), ("width", "height"), ("input", "output"), ("first", "last"), ("begin", "end"),
            ("lowest", "highest"), ("least", "most"), ("read", "write"), ("_x", "_y"), ("top", "left"),
            ("bottom", "right"), ("top", "bottom"), ("left", "right"), ("before", "after"), ("from", "to"),
            ("min", "max"), ("numerator", "denominator"), ("busy", "idle"), ("used", "needed"),
            ("simulated", "published"))
# Literals that may stand for a unit, and another unit.
UNITS = {"8": "1", "60": "1", "100": "1", "1000": "1024", "1024": "1000"}
# What the compiler evaluates (sizeof, too), what has no code of its own, and the words of errors.
LEFT_OUT = {"STATIC_ASSERT", "ENUM_DECL", "TEMPLATE_REF", "TYPE_REF", "NAMESPACE_REF", "CONCEPT_DECL",
            "TYPE_ALIAS_DECL", "TYPEDEF_DECL", "TYPE_ALIAS_TEMPLATE_DECL", "CXX_THROW_EXPR", "CXX_UNARY_EXPR"}


def partners_of(name):
    """The names that differ from `name` by the axis, end or direction that they stand for."""
    found = set()
    for one, other in PARTNERS:
        for old, new in ((one, other), (other, one)):
            if re.search(rf"(?<![a-z]){old}|{old}(?![a-z])", name):
                found.add(name.replace(old, new))
    return found


class Finder:
    """Walks one translation unit and collects the faults of the files `wanted`."""

    def __init__(self, wanted):
        self.wanted = wanted
        self.contents = {}
        self.file = None  # of the cursor that is visited
        self.faults = []

    def bytes_of(self, begin, end):
        if self.file not in self.contents:
            self.contents[self.file] = (ROOT / self.file).read_bytes()
        return self.contents[self.file][begin:end]

    def between(self, begin, end):
        return self.bytes_of(begin, end).decode(errors="ignore")

    def source(self, cursor):
        return self.between(cursor.extent.start.offset, cursor.extent.end.offset)

    def add(self, rule, cursor, becomes, longer=0):
        begin, end = cursor.extent.start.offset, cursor.extent.end.offset + longer
        text = self.between(begin, end)
        # A comment would swallow what follows it, and a directive needs a line of its own.
        if not text.strip() or "//" in text or "#" in text or "SC_" in text or 'R"' in text:
            return
        line = self.bytes_of(0, begin).count(b"\n") + 1
        self.faults.append({"file": self.file, "line": line, "begin": begin, "end": end, "rule": rule, "text": text,
                            "becomes": becomes})

    def choice(self, rule, cursor, wrong):
        # C++20 writes a != b as !(a == b): what looks like another operator may be the one that is there.
        if wrong != self.source(cursor):
            self.add(rule, cursor, f"(@ ? ({wrong}) : ({self.source(cursor)}))")

    def visit(self, cursor):
        """The faults below a cursor."""
        kind = cursor.kind.name
        children = list(cursor.get_children())
        if kind == "VAR_DECL" and "constexpr" in self.between(cursor.extent.start.offset, cursor.location.offset):
            return
        if kind == "CASE_STMT" or (kind == "IF_STMT" and re.match(r"if\s+constexpr", self.source(cursor))):
            children = children[1:]
        elif kind == "CXX_METHOD":
            children = [child for child in children if not child.kind.is_expression()]  # = 0
        else:
            handler = getattr(self, kind.lower(), None)
            if handler is not None:
                handler(cursor, children)
        for child in children:
            if child.kind.name in LEFT_OUT or self.is_template_argument(child, cursor) or not self.enter(child):
                continue
            if kind == "COMPOUND_STMT":
                self.statement(child)
            self.visit(child)
            self.enter(cursor)

    def enter(self, cursor):
        """Whether a cursor may have faults; if so, its file is the current one."""
        begin, end = cursor.extent.start.file, cursor.extent.end.file
        if begin is None or end is None:
            return cursor.kind.is_translation_unit()
        if begin.name != end.name or not begin.name.startswith(f"{ROOT}/"):
            return False
        self.file = begin.name[len(f"{ROOT}/"):]
        return self.file in self.wanted

    @staticmethod
    def is_template_argument(child, parent):
        """A literal of a type or of a name with template arguments, also one that is converted."""
        literal = child
        while literal.kind.name == "UNEXPOSED_EXPR":
            inner = list(literal.get_children())
            if len(inner) != 1:
                return False
            literal = inner[0]
        if not literal.kind.name.endswith("LITERAL"):
            return False
        if parent.kind.name in ("DECL_REF_EXPR", "MEMBER_REF_EXPR", "VARIABLE_REF"):
            return True
        return parent.kind.is_declaration() and child.extent.start.offset < parent.location.offset

    # Expressions: one function for each kind of cursor.

    def binary_operator(self, cursor, children):
        if len(children) != 2:
            return
        left, right = (self.source(child) for child in children)
        operator = self.between(children[0].extent.end.offset, children[1].extent.start.offset).strip()
        if not left or not right:
            return
        if operator in COMPARISONS:
            self.choice("comparison", cursor, f"{left} {COMPARISONS[operator]} {right}")
        if operator in ("&&", "||"):  # what is taken for a bool may be of another type
            left, right = f"static_cast<bool>({left})", f"static_cast<bool>({right})"
        if operator in SIGNS:
            self.choice("sign", cursor, f"{left} {SIGNS[operator]} {right}")
        if operator in ("-", "/", "%"):
            self.choice("order", cursor, f"({right}) {operator} ({left})")
        if operator in ("+", "-", "*", "/", "&&", "||", "%"):
            self.choice("term", cursor, left)
        if operator in ("&&", "||") or (operator in ("+", "*") and children[1].type.kind == cursor.type.kind):
            self.choice("term", cursor, right)

    def compound_assignment_operator(self, cursor, children):
        if len(children) != 2:
            return
        operator = self.between(children[0].extent.end.offset, children[1].extent.start.offset).strip()
        if operator in SIGNS:
            self.choice("sign", cursor, f"{self.source(children[0])} {SIGNS[operator]} {self.source(children[1])}")

    def conditional_operator(self, _cursor, children):
        if len(children) == 3:
            self.choice("branch", children[0], f"!({self.source(children[0])})")

    def unary_operator(self, cursor, children):
        operator = self.source(cursor)[:1]
        if len(children) == 1 and operator in ("!", "-"):
            operand = self.source(children[0])
            self.choice("sign", cursor, operand) if operator == "-" else \
                self.choice("comparison", cursor, f"static_cast<bool>({operand})")

    def cxx_bool_literal_expr(self, cursor, _children):
        if self.source(cursor) in ("true", "false"):
            self.choice("constant", cursor, "false" if self.source(cursor) == "true" else "true")

    def integer_literal(self, cursor, _children):
        match = re.fullmatch(r"(\d+)([uUlL]*)", self.source(cursor))
        if not match:
            return
        value, suffix = int(match[1]), match[2]
        self.choice("constant", cursor, f"{value + 1}{suffix}")
        if value > 0:
            self.choice("constant", cursor, f"{value - 1}{suffix}")
        if match[1] in UNITS:
            self.choice("unit", cursor, UNITS[match[1]] + suffix)

    def floating_literal(self, cursor, _children):
        text = self.source(cursor)
        power = re.fullmatch(r"1(?:\.0)?e(-?\d+)(F?)", text)
        if power:
            exponent = int(power[1])
            self.choice("unit", cursor, f"1e{exponent - 3 if exponent > 0 else exponent + 3}{power[2]}")
        elif re.fullmatch(r"[\d.]+F?", text):
            suffix = "F" if text.endswith("F") else ""
            self.choice("constant", cursor, f"{text} + 1.0{suffix}")
            if text.rstrip("F") in ("100.0", "1000.0", "8.0", "1024.0"):
                self.choice("unit", cursor, f"1.0{suffix}")

    def call_expr(self, cursor, children):
        if not children:
            return
        text, name = self.source(cursor), cursor.spelling
        if name.startswith("operator"):
            operator = name[len("operator"):]
            if len(children) == 3 and operator in COMPARISONS:
                left, right = self.source(children[0]), self.source(children[2])
                # C++20 may have written it from another operator.
                if left and right and text.startswith(left) and text.endswith(right) and len(left + right) < len(text):
                    self.choice("comparison", cursor, f"{left} {COMPARISONS[operator]} {right}")
            return
        if cursor.referenced is not None and cursor.referenced.kind.name == "CONSTRUCTOR" and \
                not re.match(r"[\w:]*\b" + re.escape(name) + r"\s*[({]", text):
            return  # the initialization of a member or variable is no expression
        if name in EXTREMES:
            callee = self.source(children[0])
            if callee.endswith(name) and text.startswith(callee):
                self.choice("extreme", cursor, callee[:-len(name)] + EXTREMES[name] + text[len(callee):])
        arguments = [each for each in cursor.get_arguments() if each is not None and each.extent.start.file]
        if name == "divide_up" and len(arguments) == 2:
            self.choice("sign", cursor, f"({self.source(arguments[0])}) / ({self.source(arguments[1])})")
        for one, other in zip(arguments, arguments[1:]):
            if name in ("min", "max", "swap") or \
                    one.type.get_canonical().spelling != other.type.get_canonical().spelling:
                continue
            first, second = self.source(one), self.source(other)
            if first and second and first != second:
                self.choice("order", cursor, self.between(cursor.extent.start.offset, one.extent.start.offset) + second +
                            self.between(one.extent.end.offset, other.extent.start.offset) + first +
                            self.between(other.extent.end.offset, cursor.extent.end.offset))

    def member_ref_expr(self, cursor, _children):
        """A member or parameter whose partner, such as `columns` of `rows`, has the same type."""
        declared, text = cursor.referenced, self.source(cursor)
        if declared is None or declared.kind.name not in ("FIELD_DECL", "PARM_DECL") or \
                declared.semantic_parent is None or not cursor.spelling or not text.endswith(cursor.spelling):
            return
        partners = partners_of(cursor.spelling)
        if not partners:
            return
        for sibling in declared.semantic_parent.get_children():
            if sibling.kind == declared.kind and sibling.spelling in partners and \
                    sibling.type.get_canonical().spelling == declared.type.get_canonical().spelling:
                self.choice("axes", cursor, text[:-len(cursor.spelling)] + sibling.spelling)

    decl_ref_expr = member_ref_expr

    def init_list_expr(self, cursor, children):
        for child in children:
            if child.extent.start.file is None or child.extent.start.offset < cursor.extent.start.offset:
                continue
            before, text = self.between(cursor.extent.start.offset, child.extent.start.offset), self.source(child)
            if re.search(r"\.\s*\w+\s*=\s*$", before) and not text.startswith(("{", "[")):
                self.add("field", child, f"(@ ? std::remove_cvref_t<decltype({text})>{{}} : ({text}))")

    def if_stmt(self, cursor, children):
        # With an initialization or a declared variable, the first child is no condition.
        if children and children[0].kind.is_expression() and re.fullmatch(
                r"if\s*\(\s*", self.between(cursor.extent.start.offset, children[0].extent.start.offset)):
            self.add("branch", children[0], f"!@ && ({self.source(children[0])})")

    def statement(self, cursor):
        """A statement of a block that is left out: an assignment, a call, or `continue`."""
        kind, text = cursor.kind.name, self.source(cursor)
        assigns = (kind == "COMPOUND_ASSIGNMENT_OPERATOR" or
                   (kind == "BINARY_OPERATOR" and re.search(r"[^=!<>]=[^=]", text)) or
                   (kind == "CALL_EXPR" and re.fullmatch(r"operator[-+*/|&]?=", cursor.spelling)))
        calls = kind in ("CALL_EXPR", "CONTINUE_STMT", "UNARY_OPERATOR", "UNEXPOSED_EXPR")
        if (assigns or calls) and self.between(cursor.extent.end.offset, cursor.extent.end.offset + 1) == ";":
            self.add("field" if assigns else "branch", cursor, f"if (!@) {{ {text}; }}", longer=1)


def clang():
    from clang import cindex  # here, for only the processes of the pool need it
    if not cindex.Config.loaded:
        cindex.Config.set_library_file(CLANG)
    return cindex


def parsed(file, arguments):
    """The syntax tree of a file; without that of a precompiled header, which no fault is in."""
    cindex = clang()
    unit = cindex.Index.create(excludeDecls=True).parse(file, args=arguments)
    errors = [str(each) for each in unit.diagnostics if each.severity >= cindex.Diagnostic.Error]
    if errors:
        raise RuntimeError(f"libclang cannot read {file or arguments[-1]}: {errors[0]}")
    return unit


def arguments_of(command):
    """Those of a compiler's command that libclang needs: no warnings, which are GCC's, nor its precompiled headers. In
    a loop with a pragma of OpenMP, libclang hides the statements."""
    words = shlex.split(re.sub(r" -include \S*cmake_pch\.hxx| -fopenmp\b", "", command["command"]))[1:]
    return [each for each in words[:words.index("-o")] if not each.startswith("-W")]


def precompile(arguments, headers, kept):
    """Headers that are not the project's, read once for many files."""
    header = kept.with_suffix(".h")
    header.write_text("".join(f"#include {each}\n" for each in headers), encoding="utf-8")
    parsed(None, [*arguments, "-x", "c++-header", str(header)]).save(str(kept))


def find_in(file, arguments, precompiled, wanted, kept):
    """The faults of one compiled file, written to `kept`."""
    try:
        unit = parsed(None, [*arguments, "-include-pch", str(precompiled), file])
    except RuntimeError:
        unit = parsed(None, [*arguments, file])  # in a precompiled header, clang 14 overlooks operators of std::quoted
    finder = Finder(wanted)
    for cursor in unit.cursor.get_children():
        if cursor.kind.name not in LEFT_OUT and finder.enter(cursor):
            finder.visit(cursor)
    kept.write_text(json.dumps(finder.faults), encoding="utf-8")


def find(build, cache, jobs):
    """All faults of the tree, by the compiled files of a build; those of unchanged files are read from `cache`."""
    cache.mkdir(parents=True, exist_ok=True)
    tree = Tree(list(FOLDERS))
    rules = Path(__file__).read_bytes()
    tasks, common = [], set()
    for command in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        if "cmake_pch" in command["file"]:
            continue
        sources = {each for each in sources_of(command["file"], ROOT) if each in tree.sources}
        if not sources:
            continue
        closure = set().union(*(tree.closure(each) for each in sources))
        arguments = arguments_of(command)
        digest = hashlib.sha256(rules + json.dumps([arguments, sorted(sources)]).encode())
        for each in sorted(closure):
            digest.update(each.encode() + (ROOT / each).read_bytes())
        kept = cache / f"{digest.hexdigest()[:24]}.json"
        tasks.append((command["file"], arguments, sources, kept))
        if not kept.is_file():
            # Others may need a macro, or a header before them.
            common.update(header for each in closure for header in re.findall(
                r"^#include (<(?:\w+|fmt/.*|nlohmann/.*)>)$", (ROOT / each).read_text(encoding="utf-8"), re.M))
    with ProcessPoolExecutor(jobs) as pool:
        missing = [task for task in tasks if not task[-1].is_file()]
        if missing:
            precompiled = cache / "common.pch"
            most = max((arguments for _, arguments, _, _ in tasks), key=len)
            pool.submit(precompile, most, sorted(common), precompiled).result()
            for run in [pool.submit(find_in, file, arguments, precompiled, sources, kept)
                        for file, arguments, sources, kept in missing]:
                run.result()
    unique = {}
    for *_, kept in tasks:
        for each in json.loads(kept.read_text(encoding="utf-8")):
            unique[each["file"], each["begin"], each["end"], each["becomes"]] = each
    return [unique[key] for key in sorted(unique)]


def code_lines():
    """All lines with code, as (file, line)."""
    lines = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.cpp")):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                if re.search(r"\w", line) and not line.lstrip().startswith(("//", "#", "using ", "namespace ")):
                    lines.append((str(path.relative_to(ROOT)), number))
    return lines


def draw(faults, count, seed, taken):
    """`count` faults at lines drawn at random, each rule of a line as likely as the others. None overlaps with another
    or with the places in `taken` (lists of (begin, end) by file), to which the drawn ones are added."""
    by_line = {}
    for fault in faults:
        by_line.setdefault((fault["file"], fault["line"]), {}).setdefault(fault["rule"], []).append(fault)
    lines = code_lines()
    chance = random.Random(seed)
    chance.shuffle(lines)
    drawn = []
    for line in lines:
        rules = by_line.get(line)
        if rules is None:
            continue
        if len(drawn) == count:
            break
        fault = chance.choice(rules[chance.choice(sorted(rules))])
        spans = taken.setdefault(fault["file"], [])
        if all(fault["end"] <= begin or end <= fault["begin"] for begin, end in spans):
            spans.append((fault["begin"], fault["end"]))
            drawn.append(fault)
    return drawn
