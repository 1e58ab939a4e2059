#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "sim/run/record/cbor.h"
#include "sim/run/record/fields.h"

/// Structs with a list of fields to CBOR (RFC 8949) and back.
namespace systole::run {
namespace fields {

/// The number of fields that are written.
template <Extent extent>
struct FieldCounter {
    std::size_t count = 0;
    template <class Value>
    void field(std::string_view, const Value&) {
        if constexpr (extent == Extent::Everything || !Uncompared<Value>) ++count;
    }
};

template <Extent extent, class Value>
void write_cbor(const Value& value, std::string& to);

template <Extent extent>
struct CborFieldWriter {
    std::string& to;
    template <class Value>
    void field(std::string_view name, const Value& value) {
        if constexpr (extent == Extent::Everything || !Uncompared<Value>) {
            cbor::write_text(name, to);
            write_cbor<extent>(value, to);
        }
    }
};

/// The bytes that the value's JSON has in CBOR, without making the JSON.
template <Extent extent, class Value>
void write_cbor(const Value& value, std::string& to) {
    if constexpr (Written<Value>) {
        Json::to_cbor(record_json(value), to);
    } else if constexpr (std::same_as<Value, Json>) {
        Json::to_cbor(value, to);
    } else if constexpr (Described<Value>) {
        FieldCounter<extent> counter;
        visit_fields(counter, value);
        cbor::write_head(cbor::Major::Map, counter.count, to);
        CborFieldWriter<extent> writer{to};
        visit_fields(writer, value);
    } else if constexpr (Named<Value>) {
        cbor::write_text(names_of(value)[static_cast<std::size_t>(value)], to);
    } else if constexpr (IsOptional<Value>::value) {
        if (value) {
            write_cbor<extent>(*value, to);
        } else {
            cbor::write_null(to);
        }
    } else if constexpr (IsVector<Value>::value) {
        cbor::write_head(cbor::Major::Array, value.size(), to);
        for (const auto& element : value) write_cbor<extent>(element, to);
    } else if constexpr (std::same_as<Value, bool>) {
        cbor::write_bool(value, to);
    } else if constexpr (std::is_floating_point_v<Value>) {
        cbor::write_real(value, to);
    } else if constexpr (std::is_unsigned_v<Value>) {
        cbor::write_unsigned(value, to);
    } else if constexpr (std::is_integral_v<Value>) {
        cbor::write_integer(value, to);
    } else {
        static_assert(std::same_as<Value, std::string>);
        cbor::write_text(value, to);
    }
}

template <class Value>
void read_cbor(cbor::Reader& reader, Value& value);

/// Reads the fields, which must be in the order of their declaration.
struct CborFieldReader {
    cbor::Reader& reader;
    std::size_t left;  ///< written fields that have not been read
    template <class Value>
    void field(std::string_view name, Value& value) {
        if (left == 0 || reader.read_text() != name) throw RecordError(std::string(name) + ": it is missing");
        --left;
        try {
            read_cbor(reader, value);
        } catch (const std::exception& error) {
            throw RecordError(std::string(name) + ": " + error.what());
        }
    }
};

template <class Value>
void read_cbor(cbor::Reader& reader, Value& value) {
    if constexpr (Written<Value>) {
        read_record_json(Json::from_cbor(reader.read_item()), value);
    } else if constexpr (std::same_as<Value, Json>) {
        value = Json::from_cbor(reader.read_item());
    } else if constexpr (Described<Value>) {
        CborFieldReader fields{reader, reader.read_map()};
        visit_fields(fields, value);
        if (fields.left != 0) throw RecordError("it has unknown keys");
    } else if constexpr (Named<Value>) {
        value = named<Value>(reader.read_text());
    } else if constexpr (IsOptional<Value>::value) {
        value.reset();
        if (!reader.read_null()) read_cbor(reader, value.emplace());
    } else if constexpr (IsVector<Value>::value) {
        value.clear();
        const std::size_t size = reader.read_array();
        value.reserve(
            std::min(size, std::size_t{1} << 12U));  // limited, because the written size may be wrong
        for (std::size_t i = 0; i < size; ++i) read_cbor(reader, value.emplace_back());
    } else if constexpr (std::same_as<Value, bool>) {
        value = reader.read_bool();
    } else if constexpr (std::is_floating_point_v<Value>) {
        value = static_cast<Value>(reader.read_real());
    } else if constexpr (std::is_unsigned_v<Value>) {
        value = in_range<Value>(reader.read_unsigned());
    } else if constexpr (std::is_integral_v<Value>) {
        value = in_range<Value>(reader.read_integer());
    } else {
        value = reader.read_text();
    }
}

}  // namespace fields

/// The struct in CBOR: the bytes that its JSON has in CBOR. Texts may contain any byte.
template <fields::Described Struct>
std::string to_bytes(const Struct& value) {
    std::string bytes;
    fields::write_cbor<fields::Extent::Everything>(value, bytes);
    return bytes;
}

/// The struct from its bytes. Throws RecordError naming the field.
template <fields::Described Struct>
Struct from_bytes(std::string_view bytes) {
    cbor::Reader reader(bytes);
    Struct value;
    fields::read_cbor(reader, value);
    if (!reader.is_at_end()) throw RecordError("bytes follow its end");
    return value;
}

/// The bytes that are the same for equal runs: all fields but those of a type that is `Uncompared`.
template <fields::Described Struct>
std::string compared_bytes(const Struct& value) {
    std::string bytes;
    fields::write_cbor<fields::Extent::Compared>(value, bytes);
    return bytes;
}

}  // namespace systole::run
