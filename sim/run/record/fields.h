#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// Plain structs to JSON and back, from one list of fields a struct.
namespace systole::run {

/// A serialized record or spec that is none: another schema, a key too few or too many, a value of another
/// type.
class RecordError : public std::runtime_error {
    using std::runtime_error::runtime_error;
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

/// Declares the fields of a plain struct, by which it is written, read and compared: all of them, in their
/// order. A structured binding counts them, so that a field left out does not compile, nor one named twice.
/// Stands in the struct's namespace.
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

/// A type outside what is compared: labels, and how fast the simulator was.
template <class Value>
concept Uncompared = requires {
    typename Value::Uncompared;
};

/// A type that is written by functions of its own: `record_json(value)`, `read_record_json(json, value)`.
template <class Value>
concept Written = requires(const Value& value) {
    record_json(value);
};

/// Whether what is outside comparison is written as well.
enum class Extent : std::uint8_t { Everything, Compared };

template <Extent extent, class Value>
Json write(const Value& value);
template <class Value>
void read(const Json& json, Value& value);

template <Extent extent>
class Writer {
public:
    template <class Value>
    void field(std::string_view name, const Value& value) {
        if constexpr (extent == Extent::Everything || !Uncompared<Value>) {
            object_.emplace(name, write<extent>(value));
        }
    }
    Json take() { return std::move(object_); }

private:
    Json object_ = Json::object();
};

class Reader {
public:
    explicit Reader(const Json& object) : object_(object) {
        if (!object.is_object()) throw RecordError("a record or a part of one is no object");
    }
    template <class Value>
    void field(std::string_view name, Value& value) {
        const auto found = object_.find(name);
        if (found == object_.end()) throw RecordError(std::string(name) + ": it is missing");
        try {
            read(*found, value);
        } catch (const std::exception& error) {
            throw RecordError(std::string(name) + ": " + error.what());
        }
        ++read_;
    }
    void check_all_read() const {
        if (read_ != object_.size()) throw RecordError("it has keys that are not known");
    }

private:
    const Json& object_;
    std::size_t read_ = 0;
};

template <class Value>
struct IsVector : std::false_type {};
template <class Value>
struct IsVector<std::vector<Value>> : std::true_type {};
template <class Value>
struct IsOptional : std::false_type {};
template <class Value>
struct IsOptional<std::optional<Value>> : std::true_type {};

template <Extent extent, class Value>
Json write(const Value& value) {
    if constexpr (Written<Value>) {
        return record_json(value);
    } else if constexpr (Described<Value>) {
        Writer<extent> writer;
        visit_fields(writer, value);
        return writer.take();
    } else if constexpr (Named<Value>) {
        return names_of(value)[static_cast<std::size_t>(value)];
    } else if constexpr (IsOptional<Value>::value) {
        return value ? write<extent>(*value) : Json(nullptr);
    } else if constexpr (IsVector<Value>::value) {
        Json array = Json::array();
        array.get_ref<Json::array_t&>().reserve(value.size());
        for (const auto& element : value) array.push_back(write<extent>(element));
        return array;
    } else {
        static_assert(std::is_arithmetic_v<Value> || std::same_as<Value, std::string> ||
                      std::same_as<Value, Json>);
        return value;
    }
}

template <class Value>
void read(const Json& json, Value& value) {
    if constexpr (Written<Value>) {
        read_record_json(json, value);
    } else if constexpr (Described<Value>) {
        Reader reader(json);
        visit_fields(reader, value);
        reader.check_all_read();
    } else if constexpr (Named<Value>) {
        const auto& name = json.get_ref<const std::string&>();
        const auto& names = names_of(value);
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (names[i] != name) continue;
            value = static_cast<Value>(i);
            return;
        }
        throw RecordError("\"" + name + "\" is none of its names");
    } else if constexpr (IsOptional<Value>::value) {
        if (json.is_null()) {
            value.reset();
        } else {
            read(json, value.emplace());
        }
    } else if constexpr (IsVector<Value>::value) {
        const auto& array = json.get_ref<const Json::array_t&>();
        value.clear();
        value.reserve(array.size());
        for (const Json& element : array) read(element, value.emplace_back());
    } else if constexpr (std::is_integral_v<Value> && !std::same_as<Value, bool>) {
        if (!json.is_number_integer()) throw RecordError("it is no whole number");
        if constexpr (std::is_unsigned_v<Value>) {
            if (!json.is_number_unsigned()) throw RecordError("it is below 0");
        }
        using Wide = std::conditional_t<std::is_unsigned_v<Value>, std::uint64_t, std::int64_t>;
        const Wide wide = json.get<Wide>();
        if (!std::in_range<Value>(wide)) throw RecordError("it is out of range");
        value = static_cast<Value>(wide);
    } else {
        value = json.get<Value>();
    }
}

}  // namespace fields

/// The struct as JSON, its fields in their order.
template <fields::Described Struct>
Json to_json(const Struct& value) {
    return fields::write<fields::Extent::Everything>(value);
}

/// The struct from its JSON. Throws RecordError naming the field.
template <fields::Described Struct>
Struct from_json(const Json& json) {
    Struct value;
    fields::read(json, value);
    return value;
}

/// The same in CBOR (RFC 8949): compact, and any byte may be in a text.
template <fields::Described Struct>
std::string to_bytes(const Struct& value) {
    std::string bytes;
    Json::to_cbor(to_json(value), bytes);
    return bytes;
}

template <fields::Described Struct>
Struct from_bytes(std::string_view bytes) {
    try {
        return from_json<Struct>(Json::from_cbor(bytes));
    } catch (const Json::exception& error) {
        throw RecordError(error.what());
    }
}

/// What two equal runs have in common, byte for byte: all but types that are `Uncompared`.
template <fields::Described Struct>
std::string compared_bytes(const Struct& value) {
    std::string bytes;
    Json::to_cbor(fields::write<fields::Extent::Compared>(value), bytes);
    return bytes;
}

}  // namespace systole::run
