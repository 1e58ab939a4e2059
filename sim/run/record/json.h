#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sim/run/record/fields.h"

/// Structs with a list of fields to JSON and back.
namespace systole::run {
namespace fields {

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
        if (!object.is_object()) throw RecordError("a record or a part of one is not an object");
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
        if (read_ != object_.size()) throw RecordError("it has unknown keys");
    }

private:
    const Json& object_;
    std::size_t read_ = 0;
};

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
        value = named<Value>(json.get_ref<const std::string&>());
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
        if (!json.is_number_integer()) throw RecordError("it is not a whole number");
        if constexpr (std::is_unsigned_v<Value>) {
            if (!json.is_number_unsigned()) throw RecordError("it is below 0");
        }
        using Wide = std::conditional_t<std::is_unsigned_v<Value>, std::uint64_t, std::int64_t>;
        value = in_range<Value>(json.get<Wide>());
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

}  // namespace systole::run
