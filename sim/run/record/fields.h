#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/user_error.h"

/// One list of fields a struct, from which it goes to JSON (json.h) and to bytes (bytes.h), and back.
namespace systole::run {

/// A serialized record or spec is invalid: it has another schema, a missing or additional key, or a value of
/// another type.
class RecordError : public UserError {
public:
    using UserError::UserError;
};

// The usual recursion of a macro over its arguments, up to 64 of them.
#define SYSTOLE_PARENTHESES ()
#define SYSTOLE_EXPAND(...) \
    SYSTOLE_EXPAND_3(SYSTOLE_EXPAND_3(SYSTOLE_EXPAND_3(SYSTOLE_EXPAND_3(__VA_ARGS__))))
#define SYSTOLE_EXPAND_3(...) \
    SYSTOLE_EXPAND_2(SYSTOLE_EXPAND_2(SYSTOLE_EXPAND_2(SYSTOLE_EXPAND_2(__VA_ARGS__))))
#define SYSTOLE_EXPAND_2(...) \
    SYSTOLE_EXPAND_1(SYSTOLE_EXPAND_1(SYSTOLE_EXPAND_1(SYSTOLE_EXPAND_1(__VA_ARGS__))))
#define SYSTOLE_EXPAND_1(...) __VA_ARGS__
#define SYSTOLE_VISIT_EACH(member, ...)    \
    visitor.field(#member, record.member); \
    __VA_OPT__(SYSTOLE_VISIT_AGAIN SYSTOLE_PARENTHESES(__VA_ARGS__))
#define SYSTOLE_VISIT_AGAIN() SYSTOLE_VISIT_EACH

/// Declares all fields of a plain struct, in their order, for writing, reading and comparison. A structured
/// binding counts them, so a missing or repeated field does not compile. The macro must be in the namespace
/// of the struct.
#define SYSTOLE_RECORD_FIELDS(Struct, ...)                                                           \
    template <class Visitor, class Record>                                                           \
    requires std::same_as<std::remove_const_t<Record>, Struct>                                       \
    void visit_fields(Visitor& visitor, Record& record) {                                            \
        [](const Struct& counted) { [[maybe_unused]] const auto& [__VA_ARGS__] = counted; }(record); \
        SYSTOLE_EXPAND(SYSTOLE_VISIT_EACH(__VA_ARGS__))                                              \
    }

using Json = nlohmann::ordered_json;

namespace fields {

struct AnyVisitor {
    template <class Value>
    void field(std::string_view, Value&) {}
};

/// A struct of which SYSTOLE_RECORD_FIELDS lists the fields.
template <class Value>
concept Described = requires(AnyVisitor& visitor, Value& value) {
    visit_fields(visitor, value);
};

/// An enumeration with names: `names_of(Enum)` gives them, in the order of the values.
template <class Value>
concept Named = std::is_enum_v<Value> && requires(Value value) {
    names_of(value).size();
};

/// A type that comparison ignores: labels, and the speed of the simulator.
template <class Value>
concept Uncompared = requires {
    typename Value::Uncompared;
};

/// A type with its own functions for writing and reading: `record_json(value)`, `read_record_json(json,
/// value)`.
template <class Value>
concept Written = requires(const Value& value) {
    record_json(value);
};

/// Whether types that comparison ignores are written as well.
enum class Extent : std::uint8_t { Everything, Compared };

template <class Value>
struct IsVector : std::false_type {};
template <class Value>
struct IsVector<std::vector<Value>> : std::true_type {};
template <class Value>
struct IsOptional : std::false_type {};
template <class Value>
struct IsOptional<std::optional<Value>> : std::true_type {};

/// The value of an enumeration by its name.
template <Named Value>
Value named(std::string_view name) {
    const auto& names = names_of(Value{});
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return static_cast<Value>(i);
    }
    throw RecordError("\"" + std::string(name) + "\" is none of its names");
}

template <class Value, class Wide>
Value in_range(Wide wide) {
    if (!std::in_range<Value>(wide)) throw RecordError("it is out of range");
    return static_cast<Value>(wide);
}

}  // namespace fields
}  // namespace systole::run
