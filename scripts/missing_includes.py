#!/usr/bin/env python3
"""Names that a source uses and whose header it reaches by none of its #includes.

    scripts/missing_includes.py [FOLDER...]     by default base hw compiler sim tests

The presets compile sixteen sources as one, where a source can use a header that only its neighbour includes;
by itself it would not compile. This script finds such names in seconds, without a compiler: it reads the names
that each header of the project declares at namespace scope, and looks each use up in the headers that the using
file includes, directly or through headers of the project. A name of the standard library needs its header in
the same set; headers that the standard library happens to include are not counted on.

It prefers silence to a false finding: an unqualified name that the file or its headers also declare in another
place (a member, a parameter, a local) is taken for that one.
"""
import re
import sys
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Header: names of namespace std that it declares. A name that stands in several may come from any of them.
STANDARD = {
    "algorithm": "ranges adjacent_find all_of any_of binary_search clamp copy copy_if copy_n count count_if equal "
                 "equal_range fill fill_n find find_first_of find_if find_if_not for_each generate generate_n "
                 "includes inplace_merge is_permutation is_sorted lexicographical_compare lower_bound max "
                 "max_element merge min min_element minmax minmax_element mismatch move_backward next_permutation "
                 "none_of nth_element partial_sort partition partition_point remove remove_if replace replace_if "
                 "reverse rotate sample search set_difference set_intersection set_union shuffle sort "
                 "stable_partition stable_sort swap_ranges transform unique upper_bound",
    "array": "array to_array size begin end data get tuple_size",
    "atomic": "atomic atomic_flag memory_order_acquire memory_order_release memory_order_relaxed "
              "memory_order_acq_rel memory_order_seq_cst",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_zero countr_zero countr_one endian has_single_bit "
           "popcount rotl rotr",
    "bitset": "bitset",
    "cctype": "iscntrl isalnum isalpha isdigit islower isprint isspace isupper isxdigit tolower toupper",
    "charconv": "from_chars from_chars_result to_chars to_chars_result chars_format",
    "chrono": "chrono",
    "cfenv": "feclearexcept fetestexcept",
    "cmath": "acos acosh asin asinh atan atan2 atanh abs ceil copysign erf erfc exp exp2 expm1 fabs floor fma fmax fmin fmod fpclassify frexp hypot ilogb isfinite isinf isnan "
             "ldexp llround log log10 log1p log2 lround lrint llrint modf nan nanf nearbyint nextafter pow remainder rint round scalbn "
             "signbit sqrt tan tanh trunc cbrt cos cosh sin sinh",
    "compare": "partial_ordering strong_ordering weak_ordering",
    "complex": "complex",
    "concepts": "convertible_to copy_constructible derived_from floating_point integral invocable same_as "
                "signed_integral unsigned_integral regular_invocable predicate default_initializable",
    "condition_variable": "condition_variable condition_variable_any cv_status",
    "csignal": "raise sig_atomic_t signal",
    "csetjmp": "jmp_buf longjmp",
    "cstddef": "byte max_align_t nullptr_t ptrdiff_t size_t to_integer",
    "cstdint": "int8_t int16_t int32_t int64_t intmax_t intptr_t uint8_t uint16_t uint32_t uint64_t uintmax_t "
               "uintptr_t int_fast32_t uint_fast32_t",
    "cstdio": "FILE fclose ferror fflush fgets fscanf sscanf fopen fputs fread fwrite printf putchar puts remove rename snprintf "
              "setvbuf perror size_t",
    "cstdlib": "abort abs aligned_alloc calloc atoi div exit free getenv llabs malloc quick_exit strtod strtol "
               "strtoul strtoull strtoll system _Exit size_t",
    "cstring": "memchr memcmp memcpy memmove memset strchr strcmp strerror strlen strncmp strncpy strrchr strstr size_t",
    "ctime": "clock clock_t ctime gmtime localtime mktime strftime time time_t tm",
    "deque": "deque erase_if size begin end",
    "exception": "current_exception exception exception_ptr make_exception_ptr rethrow_exception terminate "
                 "uncaught_exceptions",
    "filesystem": "filesystem",
    "forward_list": "forward_list",
    "fstream": "filebuf fstream ifstream ofstream",
    "functional": "bind equal_to function greater greater_equal hash identity invoke less less_equal minus "
                  "multiplies negate not_fn plus reference_wrapper ref cref",
    "future": "async future launch promise",
    "initializer_list": "initializer_list",
    "iomanip": "quoted setfill setprecision setw",
    "ios": "dec fixed hex ios ios_base left right streamoff streampos streamsize",
    "iostream": "cerr cin clog cout",
    "istream": "iostream istream getline ws",
    "iterator": "advance back_inserter begin cbegin cend crbegin crend data distance empty end "
                "forward_iterator_tag front_inserter inserter input_iterator_tag istream_iterator "
                "istreambuf_iterator iterator_traits make_move_iterator next ostream_iterator prev "
                "random_access_iterator_tag rbegin rend reverse_iterator size ssize",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap erase_if size begin end",
    "memory": "make_unique_for_overwrite addressof allocator default_delete destroy_at enable_shared_from_this make_shared make_unique "
              "shared_ptr static_pointer_cast dynamic_pointer_cast unique_ptr weak_ptr align to_address allocator_traits uninitialized_copy construct_at",
    "memory_resource": "pmr",
    "mutex": "call_once lock_guard mutex once_flag recursive_mutex scoped_lock try_to_lock unique_lock",
    "new": "align_val_t bad_alloc launder nothrow nothrow_t hardware_destructive_interference_size bad_array_new_length",
    "numbers": "numbers",
    "numeric": "accumulate exclusive_scan gcd inclusive_scan inner_product iota lcm midpoint partial_sum reduce "
               "transform_reduce adjacent_difference",
    "optional": "make_optional nullopt nullopt_t optional bad_optional_access",
    "ostream": "endl flush ostream",
    "queue": "priority_queue queue",
    "random": "bernoulli_distribution default_random_engine discrete_distribution exponential_distribution "
              "mt19937 mt19937_64 normal_distribution random_device uniform_int_distribution "
              "uniform_real_distribution seed_seq minstd_rand",
    "ranges": "ranges views",
    "ratio": "micro milli nano ratio",
    "regex": "cmatch match_results regex regex_constants regex_error regex_match regex_replace regex_search "
             "smatch sregex_iterator sregex_token_iterator ssub_match",
    "set": "multiset set erase_if size begin end",
    "shared_mutex": "shared_lock shared_mutex",
    "source_location": "source_location",
    "span": "as_bytes as_writable_bytes dynamic_extent span size begin end data",
    "sstream": "istringstream ostringstream stringbuf stringstream",
    "stack": "stack",
    "stdexcept": "domain_error invalid_argument length_error logic_error out_of_range overflow_error "
                 "range_error runtime_error underflow_error",
    "streambuf": "streambuf",
    "string": "basic_string char_traits getline stod stof stoi stol stold stoll stoul stoull string to_string erase_if "
              "u8string u16string u32string wstring size begin end data string_literals",
    "string_view": "basic_string_view string_view size begin end data string_view_literals",
    "system_error": "errc error_code generic_category make_error_code system_category system_error error_condition",
    "thread": "jthread stop_token this_thread thread",
    "tuple": "apply forward_as_tuple get ignore make_from_tuple make_tuple tie tuple tuple_cat tuple_element_t "
             "tuple_size tuple_size_v",
    "type_traits": "add_const_t common_type_t conditional_t decay_t enable_if_t false_type integral_constant "
                   "invoke_result_t is_arithmetic_v is_base_of_v is_class_v is_const_v is_constant_evaluated is_constructible_v "
                   "is_convertible_v is_empty_v is_enum_v is_floating_point_v is_integral_v is_invocable_v is_lvalue_reference_v is_pointer_v "
                   "is_same is_same_v is_signed_v is_trivial_v is_trivially_copyable_v is_trivially_destructible_v is_unsigned_v is_void_v make_signed_t make_unsigned_t "
                   "remove_const_t remove_cv_t remove_cvref_t remove_pointer_t remove_reference_t true_type "
                   "type_identity_t underlying_type_t void_t is_aggregate_v is_default_constructible_v is_nothrow_move_constructible_v",
    "typeindex": "type_index",
    "typeinfo": "bad_cast type_info",
    "unordered_map": "unordered_map unordered_multimap erase_if",
    "unordered_set": "unordered_set erase_if",
    "utility": "as_const declval exchange forward get in_place in_place_type index_sequence index_sequence_for "
               "integer_sequence make_index_sequence make_pair move pair swap to_underlying unreachable cmp_less cmp_less_equal cmp_equal in_range tuple_size piecewise_construct",
    "valarray": "valarray",
    "variant": "bad_variant_access get get_if holds_alternative monostate variant variant_alternative_t "
               "variant_size_v visit",
    "vector": "vector erase erase_if size begin end data",
}
# What a header of the standard library brings along, by the standard or in every implementation.
IMPLIED = {
    "filesystem": ["system_error"], "charconv": ["system_error"],
    "fstream": ["ios", "istream", "ostream"], "sstream": ["ios", "istream", "ostream"],
    "iostream": ["ios", "istream", "ostream"], "istream": ["ios"], "ostream": ["ios"],
    "vector": ["initializer_list"], "string": ["initializer_list"], "map": ["initializer_list"],
    "set": ["initializer_list"], "algorithm": ["initializer_list"], "memory": ["new"],
}
ANYWHERE = {"size_t", "ptrdiff_t"}  # every header of the standard library declares them
# Templates call these on types of their users, whose headers declare them (argument-dependent lookup).
CUSTOMIZED = {"record_json", "read_record_json", "names_of", "visit_fields"}
# Functions that <unistd.h> declares, whose names are also the project's.
POSIX = {"read", "write", "open", "close", "pipe", "fork", "wait", "dup2", "kill", "exit"}

# Namespaces and names of other libraries: what stands before "::", or the name itself.
LIBRARIES = {
    "fmt": ["fmt/format.h"],
    "nlohmann": ["nlohmann/json.hpp", "nlohmann/json_fwd.hpp"],
    "sc_core": ["systemc", "tlm"],
    "tlm": ["tlm"],
    "tlm_utils": ["tlm_utils/simple_initiator_socket.h", "tlm_utils/simple_target_socket.h"],
    "Catch": ["catch2/catch.hpp"],
    "CLI": ["CLI/App.hpp"],
    "dnnl": ["oneapi/dnnl/dnnl.hpp", "oneapi/dnnl/dnnl.h"],
    "TEST_CASE": ["catch2/catch.hpp"],
    "CHECK": ["catch2/catch.hpp"],
    "REQUIRE": ["catch2/catch.hpp"],
    "errno": ["cerrno"],
    "INT_MAX": ["climits"],
    "PATH_MAX": ["climits"],
    "assert": ["cassert"],
}

TOKEN = re.compile(r"[A-Za-z_]\w*|::|->|\.\.\.|[{}()<>;:,.=&*~\[\]]")
KEYWORDS = set("""alignas alignof and auto bool break case catch char class concept const consteval constexpr const_cast
continue decltype default delete do double dynamic_cast else enum explicit export extern false final float for friend
goto if inline int long mutable namespace new noexcept not nullptr operator or override private protected public
register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template
this throw true try typedef typeid typename union unsigned using virtual void volatile while""".split())
# What may stand before a name that is used, unlike a type, which stands before a name that is declared.
BEFORE_USE = KEYWORDS - set("auto bool char const double float int long short signed unsigned void class struct enum "
                            "union concept".split())


def code_of(text):
    """The text without comments, and with empty strings; lines stay where they are."""
    pattern = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*(?:.|\n)*?\*/')

    def blank(match):
        text = match.group(0)
        return ("" if text.startswith("/") else "0") + "\n" * text.count("\n")

    return pattern.sub(blank, text)


class Source:
    """One file: its includes, its tokens with their lines, and the names that it declares."""

    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        self.quoted = re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M)
        self.angled = set(re.findall(r"^\s*#\s*include\s+<([^>]+)>", text, re.M))
        self.macros = set(re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M))
        code = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda directive: "\n" * directive.group(0).count("\n"),
                      code_of(text), flags=re.M)
        self.tokens = []
        for number, line in enumerate(code.split("\n"), 1):
            self.tokens += [(token.group(0), number) for token in TOKEN.finditer(line)]
        self.exported, self.declared, self.callable = set(self.macros), set(), set()
        self._declare()

    def _declare(self):
        """Fills `exported` (names at namespace scope), `declared` (at any depth) and `callable` (of these, functions)."""
        scopes = []  # of each open brace: whether it is a namespace's
        statement_begin = 0
        tokens = [token for token, _ in self.tokens]
        parentheses = 0
        for i, token in enumerate(tokens):
            before = tokens[i - 1] if i else ""
            after = tokens[i + 1] if i + 1 < len(tokens) else ""
            if token == "(":
                parentheses += 1
            elif token == ")":
                parentheses -= 1
            elif token == "{":
                scopes.append("namespace" in tokens[statement_begin:i])
                statement_begin = i + 1
            elif token == "}":
                if scopes:
                    scopes.pop()
                statement_begin = i + 1
            elif token == ";":
                statement_begin = i + 1
            if not re.match(r"[A-Za-z_]", token) or token in KEYWORDS:
                continue
            if tokens[statement_begin:statement_begin + 2] == ["template", "<"] and after in (",", ">", "="):
                self.declared.add(token)  # a template's parameter, or a default one's type
            is_forward = before in ("class", "struct", "union") and after == ";"
            if before == "typename" or is_forward or "typedef" in tokens[statement_begin:i]:
                self.declared.add(token)
                continue
            is_type = before in ("class", "struct", "union", "enum", "concept", "using") and not (before == "using" and after not in ("=", "["))
            named = (re.match(r"[A-Za-z_]", before) and before not in BEFORE_USE) or before in (">", "&", "*")
            is_declarator = named and after in ("(", "=", ";", "{", ",", ")", ":", "[")
            if is_type or is_declarator or (before in ("[", ",") and after in ("]", ",")):
                self.declared.add(token)
                if after == "(":
                    self.callable.add(token)
            in_enum = scopes and not scopes[-1] and before in ("{", ",") and after in (",", "}", "=")
            if in_enum:
                self.declared.add(token)
            if (is_type or is_declarator) and all(scopes) and parentheses == 0:
                self.exported.add(token)


def may_include(path, header):
    """Roughly design's order of folders; test_system holds the rules. Headers beside tests are theirs alone."""
    order = ["base", "hw", "compiler", "sim", "tests"]
    if header.startswith(("tests/unit", "tests/system", "tests/bench", "tests/fuzz")):
        return path.startswith(header.rpartition("/")[0])
    return order.index(header.partition("/")[0]) <= order.index(path.partition("/")[0])


class Tree:
    def __init__(self, folders):
        paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*"))
                 if path.suffix in (".h", ".cpp")]
        self.sources = {str(path.relative_to(ROOT)): Source(path) for path in paths}
        self.headers_of = {}  # name: the headers that declare it at namespace scope
        for path, source in self.sources.items():
            if path.endswith(".h"):
                for name in source.exported:
                    self.headers_of.setdefault(name, set()).add(path)
        self.standard = {}
        for header, names in STANDARD.items():
            for name in names.split():
                self.standard.setdefault(name, set()).add(header)

    @lru_cache(maxsize=None)
    def closure(self, path):
        """The file and every header of the project that it includes."""
        reached, open_paths = set(), [path]
        while open_paths:
            each = open_paths.pop()
            if each in reached or each not in self.sources:
                continue
            reached.add(each)
            open_paths += self.sources[each].quoted
        return frozenset(reached)

    def findings(self, path):
        source = self.sources[path]
        closure = self.closure(path)
        angled = set().union(*(self.sources[each].angled for each in closure))
        angled |= {implied for each in angled for implied in IMPLIED.get(each, ())}
        declared = set().union(*(self.sources[each].declared for each in closure))
        callable_names = source.declared.union(*(self.sources[each].callable for each in closure))
        tokens = source.tokens
        found = {}
        for i, (name, line) in enumerate(tokens):
            before = tokens[i - 1][0] if i else ""
            after = tokens[i + 1][0] if i + 1 < len(tokens) else ""
            if name in KEYWORDS or not re.match(r"[A-Za-z_]", name) or before in (".", "->"):
                continue
            qualifier = tokens[i - 2][0] if before == "::" and i > 1 else ""
            if qualifier == "std":
                headers = self.standard.get(name)
                if headers is None:
                    found.setdefault(f"std::{name}", (line, "no header is known for it: add it to STANDARD"))
                elif not headers & angled and not (name in ANYWHERE and angled & STANDARD.keys()):
                    found.setdefault(f"std::{name}", (line, " or ".join(f"<{each}>" for each in sorted(headers))))
                continue
            if name in LIBRARIES and (after == "::" or name.isupper() or name == "errno" or after == "("):
                if before != "::" and not angled & set(LIBRARIES[name]):
                    found.setdefault(name, (line, f"<{LIBRARIES[name][0]}>"))
                continue
            if name[0].islower() and after == "::":
                continue  # a namespace
            # A header that includes this file is found by argument-dependent lookup, where a template is used.
            headers = {each for each in self.headers_of.get(name, ())
                       if may_include(path, each) and path not in self.closure(each)}
            if name in CUSTOMIZED or name in POSIX and "unistd.h" in angled:
                continue
            if not headers or headers & closure:
                continue
            if before == "::" and "namespace" in [each for each, _ in tokens[max(0, i - 5):i]]:
                continue
            if before == "::":
                if not re.match(r"[a-z]", qualifier) or qualifier in ("fs", "chrono", "filesystem", "nlohmann", "fmt", "pmr", "views", "ranges", "flatbuffers", "reflection",
                                                                "format", "tflite"):
                    continue  # a member, or another library's
            elif name in (callable_names if after == "(" else declared) or before == "namespace" or name[0].islower() and len(headers) > 1 or (name[0].islower() and after not in ("(", "<")) or \
                    (re.match(r"[A-Za-z_>&*]", before[-1:]) and before not in BEFORE_USE):
                continue
            found.setdefault(name, (line, " or ".join(f'"{each}"' for each in sorted(headers))))
        return found


def main():
    tree = Tree(sys.argv[1:] or ["base", "hw", "compiler", "sim", "tests"])
    missing = 0
    for path in tree.sources:
        for name, (line, header) in sorted(tree.findings(path).items(), key=lambda each: each[1][0]):
            print(f"{path}:{line}: {name}: {header}")
            missing += 1
    if missing:
        sys.exit(f"{missing} names whose header is not included")
    print(f"{len(tree.sources)} files include what they use")


if __name__ == "__main__":
    main()
