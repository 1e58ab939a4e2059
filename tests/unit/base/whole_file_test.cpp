#include "base/whole_file.h"

#include <unistd.h>

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

TEST_CASE("The file that links lead to is written, whether it exists or not", "[whole_file]") {
    const tests::Folder folder;
    fs::create_directory(folder / "sub");
    fs::create_symlink("sub/second", folder / "first");
    fs::create_symlink("../file", folder / "sub/second");
    for (const char* const text : {"new", "replaced"}) {
        write_file(folder / "first", text);
        CHECK(fs::is_symlink(folder / "first"));
        CHECK(fs::is_symlink(folder / "sub/second"));
        CHECK(fs::is_regular_file(fs::symlink_status(folder / "file")));
        CHECK(tests::text_in(folder / "file") == text);
        CHECK(files_in(folder) == 3);
    }
}

TEST_CASE("A link whose file cannot be created is an error that names the folder", "[whole_file]") {
    const tests::Folder folder;
    const std::string link = (folder / "link").string();
    fs::create_symlink("none/file", link);
    CHECK_THROWS_WITH(WholeFile(link), link + ": cannot be written: no file can be created in " +
                                           (folder / "none").string() + ": No such file or directory");
    CHECK(fs::is_symlink(link));
    fs::create_symlink("circle", folder / "circle");
    CHECK_THROWS_WITH(WholeFile(folder / "circle"),
                      Catch::EndsWith("circle: cannot be written: Too many levels of symbolic links"));
}

TEST_CASE("A folder in which no file can be created is named, and its file stays as it was", "[whole_file]") {
    // Nobody can create files in /sys.
    CHECK_THROWS_WITH(WholeFile("/sys/a"),
                      Catch::StartsWith("/sys/a: cannot be written: no file can be created in /sys: "));
    const tests::Folder folder;
    const std::string file = folder.file("a.txt", "older");
    fs::permissions(file, fs::perms::all);
    fs::permissions(folder.path(), fs::perms::all & ~(fs::perms::owner_write | fs::perms::group_write |
                                                      fs::perms::others_write));
    const uid_t user = ::geteuid();
    constexpr uid_t nobody = 65534;
    if (user == 0) REQUIRE(::seteuid(nobody) == 0);  // root may write everywhere
    CHECK_THROWS_WITH(WholeFile(file), file + ": cannot be written: no file can be created in " +
                                           folder.path().string() + ": Permission denied");
    REQUIRE(::seteuid(user) == 0);
    fs::permissions(folder.path(), fs::perms::owner_all);
    CHECK(tests::text_in(file) == "older");
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
    CHECK_THROWS_WITH(WholeFile(missing), missing + ": cannot be written: no file can be created in " +
                                              (folder / "none").string() + ": No such file or directory");
    CHECK_THROWS_WITH(WholeFile(folder.path()),
                      folder.path().string() + ": cannot be written: Is a directory");
    CHECK_THROWS_WITH(WholeFile(""), "\"\": cannot be written: the name is empty");
    CHECK_THROWS_WITH(write_file("/dev/full", "x"), "/dev/full: cannot be written: No space left on device");
    CHECK_THROWS_AS(write_file(missing, "x"), OutputError);
}
