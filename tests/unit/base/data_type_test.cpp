#include "base/data_type.h"

#include <catch2/catch.hpp>

using namespace systole;

TEST_CASE("Every number format is found by its name", "[base]") {
    for (std::size_t code = 0; code < data_type_count; ++code) {
        const auto type = static_cast<DataType>(code);
        CHECK(find_data_type(name_of(type)) == type);
    }
    CHECK_FALSE(find_data_type("int7").has_value());
    CHECK_FALSE(find_data_type("").has_value());
}

TEST_CASE("Integer formats know their bounds, the others have none", "[base]") {
    CHECK(lowest_of(DataType::Uint8) == 0);
    CHECK(highest_of(DataType::Uint8) == 255);
    CHECK(lowest_of(DataType::Int8) == -128);
    CHECK(highest_of(DataType::Int8) == 127);
    CHECK(lowest_of(DataType::Uint16) == 0);
    CHECK(highest_of(DataType::Uint16) == 65535);
    CHECK(lowest_of(DataType::Int16) == -32768);
    CHECK(highest_of(DataType::Int16) == 32767);
    CHECK(lowest_of(DataType::Int32) == std::numeric_limits<std::int32_t>::min());
    CHECK(highest_of(DataType::Int32) == std::numeric_limits<std::int32_t>::max());
    CHECK_THROWS_AS(highest_of(DataType::Uint32), std::logic_error);
    CHECK_THROWS_AS(lowest_of(DataType::Bool), std::logic_error);
    CHECK_THROWS_AS(lowest_of(DataType::Float32), std::logic_error);
    CHECK_THROWS_AS(highest_of(DataType::Bfloat16), std::logic_error);
}

TEST_CASE("Formats say how many bytes they take and whether they can be negative", "[base]") {
    CHECK(bytes_of(DataType::Uint8) == 1);
    CHECK(bytes_of(DataType::Bfloat16) == 2);
    CHECK(bytes_of(DataType::Float32) == 4);
    CHECK(bytes_of(DataType::Uint32) == 4);
    CHECK(bytes_of(DataType::Float16) == 2);
    CHECK(bytes_of(DataType::Bool) == 1);
    CHECK_FALSE(is_signed(DataType::Uint16));
    CHECK(is_signed(DataType::Float32));
    CHECK(is_integer(DataType::Int32));
    CHECK_FALSE(is_integer(DataType::Bfloat16));
}
