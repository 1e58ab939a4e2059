#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/zip/zip_file.h"

using namespace systole;

namespace {

constexpr ZipLimits wide{.most_bytes = 1 << 20};

/// Any bytes, with zeros among them.
std::string all_bytes() {
    std::string bytes;
    for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(i % 256);
    return bytes;
}

}  // namespace

TEST_CASE("A zip file that is written is read again, entry by entry in the order given", "[zip]") {
    const std::vector<ZipEntry> entries{
        {"b.npy", all_bytes()}, {"folder/a.npy", "1, 2"}, {"empty", ""}, {"state['x'].npy", "3"}};
    const std::string bytes = zip_bytes(entries);
    CHECK(is_zip(bytes));
    const ZipFile file{std::string_view(bytes)};
    CHECK(file.entries(4) == std::vector<std::string>{"b.npy", "folder/a.npy", "empty", "state['x'].npy"});
    for (const ZipEntry& entry : entries) CHECK(file.read(entry.name, wide) == entry.bytes);
}

TEST_CASE("Entries are stored: their bytes are in the file as they are", "[zip]") {
    const std::string text(5000, 'x');
    CHECK_THAT(zip_bytes(std::vector<ZipEntry>{{"a", text}}), Catch::Contains(text));
}

TEST_CASE("A zip file without entries is one", "[zip]") {
    const std::string bytes = zip_bytes({});
    CHECK(is_zip(bytes));
    CHECK(ZipFile(std::string_view(bytes)).entries(0).empty());
}

TEST_CASE("Equal entries give equal bytes, and no entry has a time", "[zip]") {
    const std::vector<ZipEntry> entries{{"a", "1"}, {"b", "2"}};
    const std::string bytes = zip_bytes(entries);
    CHECK(zip_bytes(entries) == bytes);
    CHECK(zip_bytes(std::vector<ZipEntry>{{"a", "1"}, {"b", "3"}}) != bytes);
    // Time and date of the first entry: midnight of 1 January 1980, where the format's dates begin.
    CHECK(bytes.substr(10, 4) == std::string_view("\x00\x00\x21\x00", 4));
}

TEST_CASE("Two entries of one name are refused with the name", "[zip]") {
    CHECK_THROWS_WITH(zip_bytes(std::vector<ZipEntry>{{"a", "1"}, {"b", "2"}, {"a", "3"}}),
                      Catch::StartsWith("entry \"a\": it cannot be written: "));
    CHECK_THROWS_AS(zip_bytes(std::vector<ZipEntry>{{"a", "1"}, {"a", "1"}}), ZipError);
}
