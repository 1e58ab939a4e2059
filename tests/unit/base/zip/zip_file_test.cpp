#include "base/zip/zip_file.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/files.h"
#include "tests/unit/base/zip/made_zip.h"

namespace systole::tests {
namespace {

constexpr ZipLimits wide{.most_bytes = 1 << 20};

/// The message with which an entry "a" is refused.
std::string error_in(const std::string& bytes, const ZipLimits& limits = wide) {
    try {
        ZipFile(std::string_view(bytes)).read("a", limits);
    } catch (const ZipError& error) {
        return error.what();
    }
    return "no error";
}

TEST_CASE("Entries that are stored or deflated are read, from memory and from a file", "[zip]") {
    const std::string long_text(5000, 'x');
    const std::string bytes =
        packed_zip({{"b", long_text}, {"folder/a", "1, 2", ZIP_CM_STORE}, {"empty", ""}});
    const Folder folder;
    const auto check = [&](const ZipFile& file) {
        CHECK(file.entries(3) == std::vector<std::string>{"b", "folder/a", "empty"});
        CHECK(file.has("folder/a"));
        CHECK_FALSE(file.has("a"));
        CHECK(file.read("b", wide) == long_text);
        CHECK(file.read("folder/a", wide) == "1, 2");
        CHECK(file.read("empty", wide).empty());
    };
    check(ZipFile(std::string_view(bytes)));
    check(ZipFile(std::filesystem::path(folder.file("made.zip", bytes))));
    CHECK(is_zip(bytes));
    CHECK(is_zip(packed_zip({{"a", "1"}}).substr(0, 4)));
    CHECK(is_zip(made_zip({})));
    CHECK_FALSE(is_zip("PK"));
}

TEST_CASE("An entry is read only if it is there once", "[zip]") {
    const std::string other = made_zip({{.name = "b", .bytes = "1"}, {.name = "c", .bytes = "2"}});
    CHECK(error_in(other) == "it has no entry \"a\"");
    CHECK_THROWS_WITH(ZipFile(std::string_view(other)).entries(1), "it has 2 entries; it may have at most 1");
    CHECK(error_in(made_zip({{.name = "a", .bytes = "1"}, {.name = "a", .bytes = "2"}})) ==
          "it has two entries of one name");
}

TEST_CASE("The size that an entry claims is held against the limits before anything is allocated", "[zip]") {
    const std::string stored = made_zip({{.name = "a", .bytes = "text"}});
    CHECK(error_in(stored, {.most_bytes = 4}) == "no error");
    CHECK(error_in(stored, {.most_bytes = 3}) == "entry \"a\": it has 4 bytes; it may have at most 3");
    const std::string claims_more = made_zip({{.name = "a", .bytes = "text", .claimed_bytes = 5}});
    CHECK(error_in(claims_more) == "entry \"a\": it claims 5 bytes; the file has 4 for them");
    constexpr std::uint64_t most = std::uint64_t{8} << 30U;
    const std::string bomb =
        made_zip({{.name = "a", .bytes = "text", .method = ZIP_CM_DEFLATE, .claimed_bytes = 0xfffffff0}});
    CHECK(error_in(bomb, {.most_bytes = most}) ==
          "entry \"a\": it claims 4294967280 bytes; the file has 4 for them");
    // Zeros take a thousandth.
    const std::string zeros = packed_zip({{"a", std::string(1 << 20, '\0')}});
    CHECK(error_in(zeros) == "no error");
    CHECK_THAT(error_in(zeros, {.most_bytes = wide.most_bytes, .most_expansion = 200}),
               Catch::StartsWith("entry \"a\": it claims 1048576 bytes; the file has "));
}

TEST_CASE("Entries that cannot be unpacked are refused with the rule", "[zip]") {
    CHECK(error_in(made_zip({{.name = "a", .bytes = "1", .flags = 1}})) == "entry \"a\": it is encrypted");
    CHECK(error_in(made_zip({{.name = "a", .bytes = "1", .method = 12}})) ==
          "entry \"a\": it is packed by method 12; only 0 (stored) and 8 (deflate) are read");
    CHECK(error_in(made_zip({{.name = "a", .bytes = "1", .crc_error = 1}})) ==
          "entry \"a\": it is damaged: CRC error");
    CHECK_THAT(error_in(made_zip({{.name = "a", .bytes = "\xff", .method = ZIP_CM_DEFLATE}})),
               Catch::StartsWith("entry \"a\": it is damaged: "));
    CHECK_THAT(error_in(made_zip({{.name = "a\nb", .bytes = "1"}})), !Catch::Contains("\n"));
}

TEST_CASE("A zip file that is cut off is refused", "[zip]") {
    const std::string whole = packed_zip({{"a", "1"}, {"b", std::string(300, 'x')}});
    for (std::size_t size = 1; size < whole.size(); ++size) {
        INFO("first " << size << " bytes");
        CHECK_THAT(error_in(whole.substr(0, size)),
                   Catch::StartsWith("it is not a zip file, or it is damaged: "));
    }
}

}  // namespace
}  // namespace systole::tests
