#include <algorithm>
#include <cmath>

#include "sim/run/input/formats.h"
#include "sim/run/input/read.h"
#include "tests/system/input_files.h"
#include "tests/unit/base/zip/made_zip.h"
#include "tests/unit/sim/run/input/made_images.h"

namespace systole::input::tests {
namespace {

namespace files = systole::tests;

/// A zip archive.
Bytes zip(const std::vector<files::PackedEntry>& entries) {
    const std::string bytes = files::packed_zip(entries);
    return {bytes.begin(), bytes.end()};
}

std::string error_in(const Bytes& bytes) {
    return error_of([&] { read_npz(bytes, "a.npz"); });
}

TEST_CASE("The arrays of an .npz file have names, shapes and types", "[input][npz]") {
    const std::vector<Array> arrays =
        read_npz(zip({{"x.npy", files::npy("|u1", "(2, 3)", {1, 2, 3, 4, 5, 6}), ZIP_CM_STORE},
                      {"model/in:0.npy", files::npy("<i8", "(1,)", files::repeated(std::int64_t{-7}, 1))},
                      {"h.npy", files::npy("<f2", "(4,)",
                                           files::repeated(std::uint16_t{0x3e00}, 1) +
                                               files::repeated(std::uint16_t{0xc000}, 1) +
                                               files::repeated(std::uint16_t{0x0001}, 1) +
                                               files::repeated(std::uint16_t{0x7bff}, 1))},
                      {"i2.npy", files::npy("<i2", "()", files::repeated(std::int16_t{-300}, 1))}}),
                 "a.npz");
    REQUIRE(arrays.size() == 4);
    CHECK(arrays[0].name == "x");
    CHECK(arrays[0].shape == std::vector<std::uint32_t>{2, 3});
    CHECK(std::get<Bytes>(arrays[0].values) == Bytes{1, 2, 3, 4, 5, 6});
    CHECK(arrays[1].name == "model/in:0");
    CHECK(std::get<std::vector<std::int32_t>>(arrays[1].values) == std::vector{-7});
    CHECK(std::get<std::vector<float>>(arrays[2].values) ==
          std::vector{1.5F, -2.0F, std::ldexp(1.0F, -24), 65504.0F});
    CHECK(arrays[3].shape.empty());
    CHECK(std::get<std::vector<std::int16_t>>(arrays[3].values) == std::vector<std::int16_t>{-300});
}

// Written by NumPy's savez and savez_compressed.
TEST_CASE(".npz files of NumPy itself", "[input][npz]") {
    const std::vector<Array> stored = read_npz(seed("npz/stored.npz"), "a");
    REQUIRE(stored.size() == 2);
    CHECK(std::get<Bytes>(stored[0].values) == Bytes{0, 1, 2, 3, 4, 5});
    CHECK(std::get<std::vector<float>>(stored[1].values) == std::vector{1.5F, -2.0F});
    const std::vector<Array> deflated = read_npz(seed("npz/deflated.npz"), "a");
    REQUIRE(deflated.size() == 3);
    CHECK(deflated[0].name == "a/b");
    CHECK(std::get<std::vector<std::int32_t>>(deflated[0].values) == std::vector{0, 1, 2, 3});
    CHECK(deflated[2].shape == std::vector<std::uint32_t>{3, 40});
}

TEST_CASE("The array of the network's input is found by its name, or is the only one", "[input][npz]") {
    const std::string x = files::npy("|u1", "(1, 2)", "\x01\x02");
    const std::string y = files::npy("|u1", "(1, 2)", "\x03\x04");
    const auto pixels = [](const Bytes& file, const std::string& input) {
        return *parse_images(file, "a.npz", {.input = input, .shape = {2}}).pixels();
    };
    CHECK(pixels(zip({{"x.npy", x}, {"y.npy", y}}), "y") == Bytes{3, 4});
    CHECK(pixels(zip({{"x.npy", x}}), "other") == Bytes{1, 2});
    CHECK(error_of([&] {
              pixels(zip({{"x.npy", x}, {"y.npy", y}}), "z");
          }) == "a.npz: no array is named \"z\" as the network's input is; there are \"x\", \"y\"");
}

TEST_CASE("A file with the arrays of many inputs is read once", "[input][npz]") {
    const files::Folder folder;
    const std::string x = files::npy("|u1", "(1, 2)", "\x01\x02");
    const std::string y = files::npy("|u1", "(1, 2)", "\x03\x04");
    const std::filesystem::path path =
        folder.file("all.npz", files::packed_zip({{"x.npy", x}, {"y.npy", y}}));
    InputReader reader;
    const auto pixels = [&](const std::string& input) {
        return *reader.read({&path, 1}, {.input = input, .is_only_input = false, .shape = {2}}).pixels();
    };
    CHECK(pixels("x") == Bytes{1, 2});
    std::filesystem::remove(path);
    CHECK(pixels("y") == Bytes{3, 4});
    CHECK(pixels("x") == Bytes{1, 2});
    CHECK_THROWS_WITH(pixels("z"), Catch::Contains("no array is named \"z\""));
}

TEST_CASE("An archive that is no .npz file, or a damaged one, is rejected with the rule", "[input][npz]") {
    const std::string x = files::npy("|u1", "(2,)", "\x01\x02");
    CHECK(error_in(zip({{"x.txt", x}})) ==
          "a.npz: entry \"x.txt\": its name does not end in .npy, as those of an .npz file do");
    CHECK(error_in(zip({{"x.npy", "text"}})) == "a.npz: entry \"x.npy\": does not begin as an NPY file does");
    CHECK(error_in(zip({{"x.npy", x, ZIP_CM_BZIP2}})) ==
          "a.npz: entry \"x.npy\": it is packed by method 12; only 0 (stored) and 8 (deflate) are read");
    CHECK(error_in({'P', 'K', 5, 6, 0, 0}).starts_with("a.npz: it is not a zip file, or it is damaged: "));
    CHECK(error_in(zip({})) == "a.npz: the zip archive is empty; an .npz file holds arrays");
    Bytes damaged = zip({{"x.npy", x, ZIP_CM_STORE}});
    // Not a single character, which the time in the entry's header can have, too.
    const std::string header = "{'descr'";
    *std::search(damaged.begin(), damaged.end(), header.begin(), header.end()) = 'x';
    CHECK(error_in(damaged) == "a.npz: entry \"x.npy\": it is damaged: CRC error");
    const Bytes whole = zip({{"x.npy", x}, {"y.npy", files::npy("<f4", "(3,)", std::string(12, '\0'))}});
    for (std::size_t size = 0; size < whole.size(); ++size) {
        INFO("first " << size << " bytes");
        CHECK_THROWS_AS(read_npz(std::span(whole).first(size), "a.npz"), InputError);
    }
}

TEST_CASE("An entry that claims more bytes than it can have allocates nothing", "[input][npz]") {
    Bytes bomb = zip({{"x.npy", files::npy("|u1", "(4000,)", std::string(4000, '\0'))}});
    // The uncompressed size in the central directory, 24 bytes after its signature, and in the local header.
    const std::string directory = "PK\x01\x02";
    const auto at = std::search(bomb.begin(), bomb.end(), directory.begin(), directory.end());
    REQUIRE(at != bomb.end());
    const auto claim = [&](std::uint8_t highest) {
        for (const auto place : {bomb.begin() + 22, at + 24}) *(place + 3) = highest;
    };
    claim(0x70);
    CHECK(error_in(bomb).starts_with("a.npz: entry \"x.npy\": it claims 1879"));
    claim(0xff);
    CHECK(error_in(bomb).starts_with("a.npz: "));
}

TEST_CASE("Arrays together have a limit", "[input][npz]") {
    // Each entry could be as large as it says; all of them could not be held.
    const std::string header = files::npy("|u1", "(2000000000,)", "");
    CHECK(error_in(zip({{"x.npy", header}})).find("has 0 bytes; its header says 2000000000") !=
          std::string::npos);
}

}  // namespace
}  // namespace systole::input::tests
