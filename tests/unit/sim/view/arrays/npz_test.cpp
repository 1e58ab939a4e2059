#include <catch2/catch.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/whole_file.h"
#include "base/zip/zip_file.h"
#include "sim/run/input/array_file.h"
#include "sim/view/arrays/npy_file.h"
#include "tests/support/files.h"

using namespace systole;
using arrays::NamedArray;

namespace {

/// An array of a number format, its bytes, and the words that they are (hw/math/floats/word_values.h).
struct Written {
    DataType type = DataType::Float32;
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint32_t> words;
};

/// Two numbers of each format that NumPy has.
const std::vector<Written> two_of_each{
    {DataType::Uint8, {0, 255}, {0, 255}},
    {DataType::Int8, {127, 128}, {127, 0xffffff80}},
    {DataType::Int16, {1, 0, 0, 128}, {1, 0xffff8000}},
    {DataType::Uint16, {1, 0, 255, 255}, {1, 65535}},
    {DataType::Int32, {1, 0, 0, 0, 0, 0, 0, 128}, {1, 0x80000000}},
    {DataType::Float32, {0, 0, 128, 63, 1, 0, 0, 192}, {0x3f800000, 0xc0000001}},
    {DataType::Uint32, {1, 0, 0, 0, 255, 255, 255, 255}, {1, 0xffffffff}},
    {DataType::Float16, {0, 60, 0, 193}, {0x3f800000, 0xc0200000}},  // 1 and -2.5
    {DataType::Bool, {0, 1}, {0, 1}}};

}  // namespace

TEST_CASE("An .npz file of each number format is read back word by word", "[arrays]") {
    const tests::Folder folder;
    std::vector<NamedArray> given;
    for (const Written& each : two_of_each)
        given.push_back({std::string(name_of(each.type)), each.type, {2}, each.bytes});
    CHECK(given.size() == data_type_count - 1);  // all but bfloat16
    arrays::write_npz(folder / "a.npz", given);
    const input::ArrayFile file(folder / "a.npz");
    CHECK(file.is_archive());
    REQUIRE(file.names().size() == given.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
        INFO(given[i].name);
        CHECK(file.names()[i] == given[i].name);
        const input::WordArray read = file.read(given[i].name, {.name = "x", .type = given[i].type});
        CHECK(read.shape == std::vector<std::uint32_t>{2});
        CHECK(read.words == two_of_each[i].words);
    }
}

TEST_CASE("Single numbers and arrays of several axes keep their shapes in an .npz file", "[arrays]") {
    const tests::Folder folder;
    arrays::write_npz(
        folder / "a.npz",
        std::vector<NamedArray>{{"one", DataType::Uint8, {}, {7}},
                                {"state['w/kernel']", DataType::Uint8, {2, 1, 3}, {1, 2, 3, 4, 5, 6}}});
    const input::ArrayFile file(folder / "a.npz");
    const input::WordArray one = file.read("one", {.name = "x", .type = DataType::Uint8});
    CHECK(one.shape.empty());
    CHECK(one.words == std::vector<std::uint32_t>{7});
    const input::WordArray more = file.read("state['w/kernel']", {.name = "x", .type = DataType::Uint8});
    CHECK(more.shape == std::vector<std::uint32_t>{2, 1, 3});
    CHECK(more.words == std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("Equal arrays give equal .npz files", "[arrays]") {
    const tests::Folder folder;
    const std::vector<NamedArray> given{{"a", DataType::Int8, {2}, {1, 2}}};
    arrays::write_npz(folder / "a.npz", given);
    arrays::write_npz(folder / "b.npz", given);
    CHECK_FALSE(tests::text_in(folder / "a.npz").empty());
    CHECK(tests::text_in(folder / "a.npz") == tests::text_in(folder / "b.npz"));
}

TEST_CASE("An .npz file that cannot be written is refused, and none is left", "[arrays]") {
    const tests::Folder folder;
    const std::vector<NamedArray> twice{{"a", DataType::Int8, {}, {1}}, {"a", DataType::Int8, {}, {2}}};
    CHECK_THROWS_AS(arrays::write_npz(folder / "a.npz", twice), ZipError);
    const std::vector<NamedArray> of_bfloat16{{"a", DataType::Bfloat16, {}, {1, 2}}};
    CHECK_THROWS_AS(arrays::write_npz(folder / "a.npz", of_bfloat16), std::logic_error);
    CHECK_FALSE(std::filesystem::exists(folder / "a.npz"));
    const std::vector<NamedArray> right{{"a", DataType::Int8, {}, {1}}};
    CHECK_THROWS_AS(arrays::write_npz(folder / "none" / "a.npz", right), OutputError);
}
