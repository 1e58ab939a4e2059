#include "sim/view/arrays/output_files.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/whole_file.h"
#include "sim/run/input/formats.h"
#include "sim/view/arrays/npy_file.h"
#include "tests/support/files.h"

using namespace systole;

namespace {

/// A file, read as an input is.
input::Array read(const std::filesystem::path& path) {
    const std::string text = tests::text_in(path);
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    input::ByteStream stream(bytes, path.string());
    return input::read_npy_array(stream);
}

}  // namespace

// As numpy.save writes a header: version 1.0, a dictionary, spaces, a newline, 64 bytes before the values.
TEST_CASE("The header of a NumPy file", "[arrays]") {
    const std::vector<std::uint64_t> shape{2, 10};
    const std::string header = arrays::npy_header(DataType::Float32, shape);
    CHECK(header.size() == 128);
    CHECK(header.substr(0, 10) == std::string("\x93NUMPY\x01\x00\x76\x00", 10));
    CHECK(header.substr(10, 62) == "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 10), }  ");
    CHECK(header.back() == '\n');
    const std::vector<std::uint64_t> one{7};
    CHECK_THAT(arrays::npy_header(DataType::Int8, one), Catch::Contains("'|i1'") && Catch::Contains("(7,)"));
    CHECK_THAT(arrays::npy_header(DataType::Int16, {}), Catch::Contains("'<i2'") && Catch::Contains("()"));
    const std::vector<std::uint64_t> deep(40, 12345);
    CHECK(arrays::npy_header(DataType::Uint8, deep).size() % 64 == 0);
    CHECK_THROWS_AS(arrays::npy_header(DataType::Bfloat16, one), std::logic_error);
}

TEST_CASE("Each output is a file of real numbers, and of stored ones where there are such", "[arrays]") {
    const tests::Folder folder;
    const run::OutputArray logits{.name = "net/logits:0",
                                  .shape = {2, 2},
                                  .values = {0.5F, -1.0F, 2.0F, 0.0F},
                                  .type = DataType::Int16,
                                  .stored = {1, 0, 0xfe, 0xff, 4, 0, 0, 0}};
    const run::OutputArray boxes{
        .name = "boxes", .shape = {1, 1, 1, 3}, .values = {1, 2, 3}, .type = DataType::Float32, .stored = {}};
    const auto written = arrays::write_outputs(std::vector{logits, boxes}, folder.path());
    REQUIRE(written.size() == 3);
    CHECK(written[0].output == "net/logits:0");
    CHECK(written[0].file == folder / "net_logits_0.npy");
    CHECK(written[0].contents == "float32 (2, 2)");
    CHECK(written[1].file == folder / "net_logits_0.raw.npy");
    CHECK(written[1].contents == "int16 (2, 2)");
    CHECK(written[2].file == folder / "boxes.npy");
    CHECK(std::get<std::vector<float>>(read(written[0].file).values) == logits.values);
    CHECK(read(written[0].file).shape == std::vector<std::uint32_t>{2, 2});
    CHECK(std::get<std::vector<std::int16_t>>(read(written[1].file).values) ==
          std::vector<std::int16_t>{1, -2, 4, 0});
    CHECK(read(written[2].file).shape == std::vector<std::uint32_t>{1, 1, 1, 3});
}

TEST_CASE("An output without real numbers is one file of its own type", "[arrays]") {
    const tests::Folder folder;
    const run::OutputArray mask{
        .name = "mask", .shape = {}, .values = {}, .type = DataType::Uint8, .stored = {7}};
    const auto written = arrays::write_outputs(std::vector{mask}, folder.path());
    REQUIRE(written.size() == 1);
    CHECK(written[0].file == folder / "mask.npy");
    CHECK(written[0].contents == "uint8 ()");
    CHECK(std::get<std::vector<std::uint8_t>>(read(written[0].file).values) == std::vector<std::uint8_t>{7});
    CHECK(read(written[0].file).shape.empty());
}

TEST_CASE("Names of outputs that cannot be those of files are changed, and stay different", "[arrays]") {
    CHECK(arrays::file_name_of("a/b:0 (x)") == "a_b_0__x_");
    CHECK(arrays::file_name_of("Dense-1_b.2") == "Dense-1_b.2");
    CHECK(arrays::file_name_of("../up") == ".._up");
    CHECK(arrays::file_name_of("\xc3\xa9") == "__");
    CHECK(arrays::file_name_of("") == "output");
    const tests::Folder folder;
    const auto output = [](const std::string& name) {
        return run::OutputArray{.name = name, .shape = {1}, .values = {1}, .type = {}, .stored = {}};
    };
    const auto written =
        arrays::write_outputs(std::vector{output("a:0"), output("a/0"), output("a_0")}, folder.path());
    CHECK(written[0].file == folder / "a_0.npy");
    CHECK(written[1].file == folder / "a_0_2.npy");
    CHECK(written[2].file == folder / "a_0_3.npy");
    CHECK_THROWS_AS(arrays::write_outputs(std::vector{output("a")}, folder / "none"), OutputError);
}

// A file name has at most 255 bytes, and a file that is being written has a longer one than it has at the
// end.
TEST_CASE("Names of outputs that are too long for a file are shortened, and listed", "[arrays]") {
    const tests::Folder folder;
    const auto output = [](std::size_t length, char last) {
        std::string name(length, 'y');
        name.back() = last;
        return run::OutputArray{
            .name = std::move(name), .shape = {1}, .values = {1}, .type = DataType::Int8, .stored = {1}};
    };
    arrays::write_outputs(std::vector{output(150, 'a')}, folder.path());
    CHECK_FALSE(std::filesystem::exists(folder / "names.json"));
    const std::vector outputs{output(151, 'a'), output(5000, 'b'), output(150, 'y')};
    const auto written = arrays::write_outputs(outputs, folder.path());
    REQUIRE(written.size() == 6);
    const std::string plain(150, 'y');
    const auto names = nlohmann::json::parse(tests::text_in(folder / "names.json"));
    CHECK(names.size() == 6);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const std::string number = i == 0 ? "" : "_" + std::to_string(i + 1);
        CHECK(written[2 * i].file == folder / (plain + number + ".npy"));
        CHECK(written[2 * i + 1].file == folder / (plain + number + ".raw.npy"));
        for (const std::size_t place : {2 * i, 2 * i + 1}) {
            CHECK(written[place].output == outputs[i].name);
            CHECK(names.at(written[place].file.filename().string()) == outputs[i].name);
        }
    }
}
