// Arrays as words: each format of files, for inputs of each format.
#include "sim/run/input/array_file.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "hw/math/floats/word_values.h"
#include "tests/system/input_files.h"
#include "tests/unit/base/zip/made_zip.h"
#include "tests/unit/sim/run/input/made_files.h"

namespace systole::input::tests {
namespace {

namespace files = systole::tests;

using Words = std::vector<std::uint32_t>;

template <typename Number>
std::string file_of(const std::string& descr, const std::vector<Number>& numbers) {
    std::string values;
    for (const Number number : numbers) values += files::repeated(number, 1);
    return files::npy(descr, "(" + std::to_string(numbers.size()) + ",)", values);
}

WordArray read(const std::string& file, DataType type) {
    const Bytes bytes(file.begin(), file.end());
    ByteStream stream(bytes, "a.npy");
    return read_npy_words(stream, {.name = "x", .type = type});
}

template <typename Number>
Words words_of(const std::string& descr, const std::vector<Number>& numbers, DataType type) {
    return read(file_of(descr, numbers), type).words;
}

template <typename Number>
std::string error_for(const std::string& descr, const std::vector<Number>& numbers, DataType type) {
    return error_of([&] { words_of(descr, numbers, type); });
}

Words float_words(const std::vector<float>& numbers) {
    Words words;
    for (const float number : numbers) words.push_back(std::bit_cast<std::uint32_t>(number));
    return words;
}

/// An integer format of files, and the limits of an input of it. The first and the last of all are beyond.
template <typename Number>
void check_limits(const std::string& descr, DataType type) {
    using Limits = std::numeric_limits<Number>;
    INFO(descr);
    const std::vector<Number> numbers{Limits::lowest(), Number{0}, Number{1}, Limits::max()};
    Words expected(numbers.size());
    math::to_words(numbers.data(), type, expected);
    CHECK(words_of(descr, numbers, type) == expected);
    std::vector<std::int64_t> wide(numbers.begin(), numbers.end());
    CHECK(words_of("<i8", wide, type) == expected);
    CHECK(words_of("<f8", std::vector<double>(numbers.begin(), numbers.end()), type) == expected);
    for (const std::int64_t beyond : {wide.front() - 1, wide.back() + 1}) {
        const std::string rule = "a.npy: element (1,) is " + std::to_string(beyond) + "; input \"x\" takes " +
                                 std::string(name_of(type)) + ", whose numbers are whole, from " +
                                 std::to_string(wide.front()) + " to " + std::to_string(wide.back());
        CHECK(error_for("<i8", std::vector<std::int64_t>{0, beyond}, type) == rule);
        CHECK(error_for("<f8", std::vector<double>{0, static_cast<double>(beyond)}, type)
                  .starts_with("a.npy: element (1,) is "));
    }
}

}  // namespace

TEST_CASE("Integers of every format are words from their least number to their greatest", "[input][array]") {
    check_limits<std::int8_t>("|i1", DataType::Int8);
    check_limits<std::uint8_t>("|u1", DataType::Uint8);
    check_limits<std::int16_t>("<i2", DataType::Int16);
    check_limits<std::uint16_t>("<u2", DataType::Uint16);
    check_limits<std::int32_t>("<i4", DataType::Int32);
    check_limits<std::uint32_t>("<u4", DataType::Uint32);
}

TEST_CASE("Integers of 64 bits beyond those of int64 are read, and fit in no input", "[input][array]") {
    CHECK(words_of("<u8", std::vector<std::uint64_t>{7, 0xFFFFFFFF}, DataType::Uint32) ==
          Words{7, 0xFFFFFFFF});
    CHECK_THAT(error_for("<u8", std::vector<std::uint64_t>{0xFFFFFFFFFFFFFFFF}, DataType::Int32),
               Catch::Contains("element (0,) is 18446744073709551615; input \"x\" takes int32"));
    CHECK_THAT(error_for("<u8", std::vector<std::uint64_t>{0xFFFFFFFFFFFFFFFF}, DataType::Float32),
               Catch::Contains("which does not hold this number exactly"));
    CHECK(words_of("<u8", std::vector<std::uint64_t>{0x8000000000000000}, DataType::Float32) ==
          float_words({0x1p63F}));
    CHECK(words_of("<i8", std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()},
                   DataType::Float32) == float_words({-0x1p63F}));
}

TEST_CASE("Truth values are 0 and 1, of whatever format", "[input][array]") {
    CHECK(words_of("|b1", std::vector<std::uint8_t>{1, 0}, DataType::Bool) == Words{1, 0});
    CHECK(words_of("|b1", std::vector<std::uint8_t>{1, 0}, DataType::Int8) == Words{1, 0});
    CHECK(words_of("|b1", std::vector<std::uint8_t>{1, 0}, DataType::Float32) == float_words({1, 0}));
    CHECK(words_of("<f4", std::vector<float>{1, -0.0F}, DataType::Bool) == Words{1, 0});
    CHECK(error_for("|u1", std::vector<std::uint8_t>{2}, DataType::Bool) ==
          "a.npy: element (0,) is 2; input \"x\" takes bool, whose numbers are whole, from 0 to 1");
    CHECK_THAT(error_for("|i1", std::vector<std::int8_t>{-1}, DataType::Bool), Catch::Contains("is -1;"));
}

TEST_CASE("Floats that are no whole numbers fit in no input of integers", "[input][array]") {
    for (const double number : {0.5, -1e-300, std::nan(""), std::numeric_limits<double>::infinity()}) {
        INFO(number);
        CHECK_THAT(error_for("<f8", std::vector<double>{number}, DataType::Int32),
                   Catch::Contains("input \"x\" takes int32, whose numbers are whole"));
    }
}

TEST_CASE("Integers are floats as long as these hold them exactly", "[input][array]") {
    CHECK(words_of("<i4", std::vector<std::int32_t>{1 << 24, -(1 << 24) - 2}, DataType::Float32) ==
          float_words({0x1p24F, -0x1p24F - 2}));
    CHECK(error_for("<i4", std::vector<std::int32_t>{(1 << 24) + 1}, DataType::Float32) ==
          "a.npy: element (0,) is 16777217; input \"x\" takes float32, which does not hold this number "
          "exactly (NumPy's astype rounds)");
    CHECK(words_of("|u1", std::vector<std::uint8_t>{255}, DataType::Bfloat16) == float_words({255}));
    CHECK_THAT(error_for("<i2", std::vector<std::int16_t>{257}, DataType::Bfloat16),
               Catch::Contains("is 257; input \"x\" takes bfloat16"));
    CHECK(words_of("<i4", std::vector<std::int32_t>{65504}, DataType::Float16) == float_words({65504}));
    CHECK_THAT(error_for("<i4", std::vector<std::int32_t>{65536}, DataType::Float16),
               Catch::Contains("is 65536; input \"x\" takes float16"));
}

TEST_CASE("Floats are never rounded", "[input][array]") {
    constexpr float largest = std::numeric_limits<float>::max();
    constexpr float least = std::numeric_limits<float>::denorm_min();
    const std::vector<float> all{0.1F, -0.0F, largest, least, -std::numeric_limits<float>::infinity()};
    CHECK(words_of("<f4", all, DataType::Float32) == float_words(all));
    CHECK(words_of("<f8", std::vector<double>(all.begin(), all.end()), DataType::Float32) ==
          float_words(all));
    for (const double number : {0.1, double{largest} * 2, double{least} / 2, 1 + 0x1p-24}) {
        INFO(number);
        CHECK_THAT(error_for("<f8", std::vector<double>{number}, DataType::Float32),
                   Catch::Contains("takes float32, which does not hold this number exactly"));
    }
    CHECK(words_of("<f4", std::vector<float>{1 + 0x1p-7F, -0x1p-130F}, DataType::Bfloat16) ==
          float_words({1 + 0x1p-7F, -0x1p-130F}));
    for (const float number : {1 + 0x1p-8F, largest, least}) {
        INFO(number);
        CHECK_THAT(error_for("<f4", std::vector<float>{number}, DataType::Bfloat16),
                   Catch::Contains("takes bfloat16, which"));
    }
    CHECK(words_of("<f4", std::vector<float>{1 + 0x1p-10F, 0x1p-24F, 65504}, DataType::Float16) ==
          float_words({1 + 0x1p-10F, 0x1p-24F, 65504}));
    for (const float number : {1 + 0x1p-11F, 0x1p-25F, 65520.0F}) {
        INFO(number);
        CHECK_THAT(error_for("<f4", std::vector<float>{number}, DataType::Float16),
                   Catch::Contains("takes float16, which"));
    }
}

TEST_CASE("NaN of every format of floats is the one NaN of every other", "[input][array]") {
    const DataType type = GENERATE(DataType::Float32, DataType::Bfloat16, DataType::Float16);
    CHECK(words_of("<f2", std::vector<std::uint16_t>{0x7E01, 0xFC01}, type) == Words{0x7FC00000, 0x7FC00000});
    CHECK(words_of("<f4", std::vector<float>{std::nanf("7")}, type) == Words{0x7FC00000});
    CHECK(words_of("<f8", std::vector<double>{-std::nan("")}, type) == Words{0x7FC00000});
    CHECK(words_of("<V2", std::vector<std::uint16_t>{0xFF81}, type) == Words{0x7FC00000});
}

TEST_CASE("float16 is read by its value, and bfloat16 of ml_dtypes, too", "[input][array]") {
    const std::vector<std::uint16_t> halves{0x3E00, 0xC000, 0x0001, 0x7BFF};
    CHECK(words_of("<f2", halves, DataType::Float16) == float_words({1.5F, -2.0F, 0x1p-24F, 65504.0F}));
    CHECK(words_of("<f2", halves, DataType::Float32) == float_words({1.5F, -2.0F, 0x1p-24F, 65504.0F}));
    CHECK_THAT(error_for("<f2", halves, DataType::Bfloat16), Catch::Contains("element (3,) is 65504"));
    const std::vector<std::uint16_t> brains{0x3FC0, 0xC000, 0x4040};
    const std::string descr = GENERATE("|V2", "<V2");
    CHECK(words_of(descr, brains, DataType::Bfloat16) == float_words({1.5F, -2.0F, 3.0F}));
    CHECK(words_of(descr, brains, DataType::Float32) == float_words({1.5F, -2.0F, 3.0F}));
    CHECK_THAT(error_for(descr, brains, DataType::Int8), Catch::Contains("element (0,) is 1.5"));
}

TEST_CASE("uint16 are the bits of an input of bfloat16, and numbers of any other", "[input][array]") {
    const std::vector<std::uint16_t> bits{0x3FC0, 0xC000};
    CHECK(words_of("<u2", bits, DataType::Bfloat16) == float_words({1.5F, -2.0F}));
    CHECK(words_of("<u2", bits, DataType::Float32) == float_words({0x3FC0, 0xC000}));
    CHECK(words_of("<u2", bits, DataType::Int32) == Words{0x3FC0, 0xC000});
}

TEST_CASE("Arrays of either order of bytes and axes are row-major, and messages have the element's index",
          "[input][array]") {
    const std::string big{0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 1, 0};
    CHECK(read(files::npy(">i4", "(2, 3)", big), DataType::Int32).words == Words{1, 2, 3, 4, 5, 256});
    const WordArray turned = read(files::npy(">i4", "(2, 3)", big, "True"), DataType::Int32);
    CHECK(turned.shape == std::vector<std::uint32_t>{2, 3});
    CHECK(turned.words == Words{1, 3, 5, 2, 4, 256});
    const auto error = [&](const std::string& order) {
        return error_of([&] { read(files::npy(">i4", "(3, 2)", big, order), DataType::Uint8); });
    };
    CHECK_THAT(error("False"), Catch::StartsWith("a.npy: element (2, 1) is 256; input \"x\" takes uint8"));
    CHECK_THAT(error("True"), Catch::StartsWith("a.npy: element (2, 1) is 256; input \"x\" takes uint8"));
    const WordArray number = read(files::npy("<i4", "()", files::repeated(7, 1)), DataType::Int32);
    CHECK(number.shape.empty());
    CHECK(number.words == Words{7});
    CHECK_THAT(error_of([] { read(files::npy("<i4", "()", files::repeated(7, 1)), DataType::Bool); }),
               Catch::StartsWith("a.npy: element () is 7;"));
}

TEST_CASE("Arrays of other element types, or cut off, or too long, are refused", "[input][array]") {
    for (const char* const descr : {"<c8", "|V1", "<V4", "|O", "<U2", "<f16", "<M8[s]"}) {
        INFO(descr);
        CHECK(error_of([&] { read(files::npy(descr, "(1,)", std::string(16, '\0')), DataType::Float32); }) ==
              std::string("a.npy: element type is '") + descr +
                  "'; arrays have bool, integers of 8 to 64 bits, floats of 16 to 64 bits, or bfloat16 "
                  "of ml_dtypes ('<V2')");
    }
    CHECK(error_of([] { read(files::npy("<i4", "(2,)", "1234"), DataType::Int32); }) ==
          "a.npy: the NPY data has 4 bytes; its header says 8");
    CHECK_THAT(error_of([] { read(files::npy("<i4", "(1,)", "12345"), DataType::Int32); }),
               Catch::Contains("last value"));
    CHECK_THAT(error_of([] { read(files::npy("<i4", "(40000, 40000)", ""), DataType::Int32); }),
               Catch::Contains("an array of shape (40000, 40000) takes more than 4294967296 bytes"));
}

TEST_CASE("A file of arrays is NPY, gzip or not, or NPZ with names as HLO has them", "[input][array]") {
    const TemporaryDirectory folder;
    const std::string seven = files::npy("<i4", "()", files::repeated(7, 1));
    const std::string eight = files::npy("<i8", "(1,)", files::repeated(std::int64_t{8}, 1));
    const WordInput input{.name = "x", .type = DataType::Int32};
    const Bytes bytes(seven.begin(), seven.end());
    for (const Bytes& each : {bytes, gzip(bytes)}) {
        const ArrayFile file(folder.write("a.npy", each));
        CHECK_FALSE(file.is_archive());
        CHECK(file.names().empty());
        CHECK(file.place_of("") == (folder / "a.npy").string());
        CHECK(file.read("", input).words == Words{7});
    }
    const std::string name = "state['parameters']['conv1']['kernel']";
    const std::string zip = files::packed_zip({{name + ".npy", seven}, {"0.npy", eight, ZIP_CM_STORE}});
    const ArrayFile archive(folder.write("b.npz", {zip.begin(), zip.end()}));
    CHECK(archive.is_archive());
    CHECK(archive.names() == std::vector<std::string>{name, "0"});
    CHECK(archive.read(name, input).words == Words{7});
    CHECK(archive.read("0", input).shape == std::vector<std::uint32_t>{1});
    CHECK(archive.read("0", input).words == Words{8});
    const std::string place = (folder / "b.npz").string() + ": array \"0\"";
    CHECK(archive.place_of("0") == place);
    CHECK_THAT(error_of([&] { archive.read("0", {.name = "x", .type = DataType::Bool}); }),
               Catch::StartsWith(place + ": element (0,) is 8; input \"x\" takes bool"));
}

TEST_CASE("Files of no arrays are refused", "[input][array]") {
    const TemporaryDirectory folder;
    const auto error = [&](const std::string& bytes) {
        const std::filesystem::path file = folder.write("f", {bytes.begin(), bytes.end()});
        const std::string text = error_of([&] { ArrayFile{file}; });
        REQUIRE(text.starts_with(file.string() + ": "));
        return text.substr(file.string().size() + 2);
    };
    CHECK(error(files::idx_images(1, 2, 2)) ==
          "the first bytes are not those of an NPY or NPZ file; the network's inputs are arrays");
    CHECK(error("") ==
          "the first bytes are not those of an NPY or NPZ file; the network's inputs are arrays");
    CHECK(error(files::packed_zip({{"x.txt", "x"}})) ==
          "entry \"x.txt\": its name does not end in .npy, as those of an .npz file do");
    CHECK(error(files::made_zip({})) == "the zip archive is empty; an .npz file holds arrays");
    CHECK_THAT(error_of([&] { ArrayFile{folder.path()}; }), Catch::StartsWith(folder.path().string() + ": "));
    CHECK_THAT(error_of([&] { ArrayFile{folder / "none"}; }), Catch::StartsWith((folder / "none").string()));
}

}  // namespace systole::input::tests
