#include "hw/base/whole_file.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "tests/support/files.h"

using namespace systole;

namespace {

namespace fs = std::filesystem;

std::size_t files_in(const tests::Folder& folder) {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder.path())) ++count;
    return count;
}

}  // namespace

TEST_CASE("A file has its name when it is complete, and an older one until then", "[whole_file]") {
    const tests::Folder folder;
    folder.file("a.txt", "older");
    {
        WholeFile file(folder / "a.txt");
        file.write("new");
        CHECK(tests::text_in(folder / "a.txt") == "older");
        CHECK(file.place().parent_path() == folder.path());
        CHECK(file.place().filename().string().starts_with(".part-"));
        CHECK(file.place().extension() == ".txt");
        file.write("er");
        file.commit();
    }
    CHECK(tests::text_in(folder / "a.txt") == "newer");
    CHECK(files_in(folder) == 1);
}

TEST_CASE("A file that is not completed leaves nothing", "[whole_file]") {
    const tests::Folder folder;
    {
        WholeFile file(folder / "a.txt");
        file.write("half");
        CHECK(files_in(folder) == 1);
    }
    CHECK(files_in(folder) == 0);
}

TEST_CASE("What is no regular file is written directly", "[whole_file]") {
    const tests::Folder folder;
    fs::create_symlink("/dev/null", folder / "null");
    WholeFile file(folder / "null");
    CHECK(file.place() == folder / "null");
    file.write("x");
    file.commit();
    CHECK(fs::is_character_file(folder / "null"));
}

TEST_CASE("A link that leads nowhere is replaced", "[whole_file]") {
    const tests::Folder folder;
    fs::create_symlink("nowhere", folder / "link");
    write_file(folder / "link", "x");
    CHECK(tests::text_in(folder / "link") == "x");
}

TEST_CASE("A file whose name is as long as file systems allow can be written", "[whole_file]") {
    const tests::Folder folder;
    const std::string name(255, 'n');
    write_file(folder / name, "x");
    CHECK(tests::text_in(folder / name) == "x");
}

TEST_CASE("A file that cannot be written is an error with file and reason", "[whole_file]") {
    const tests::Folder folder;
    const std::string missing = (folder / "none/a").string();
    CHECK_THROWS_WITH(WholeFile(missing), missing + ": cannot be written: No such file or directory");
    CHECK_THROWS_WITH(WholeFile(folder.path()),
                      folder.path().string() + ": cannot be written: Is a directory");
    CHECK_THROWS_WITH(WholeFile(""), "\"\": cannot be written: the name is empty");
    CHECK_THROWS_WITH(write_file("/dev/full", "x"), "/dev/full: cannot be written: No space left on device");
    CHECK_THROWS_AS(write_file(missing, "x"), OutputError);
}
