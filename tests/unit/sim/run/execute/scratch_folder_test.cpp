#include "sim/run/execute/scratch_folder.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "base/whole_file.h"
#include "tests/support/files.h"

using namespace systole;

namespace {

namespace fs = std::filesystem;

/// Temporary files of this process lie in this folder.
class TemporaryFolder {
public:
    TemporaryFolder() { ::setenv("TMPDIR", folder_.path().c_str(), 1); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() { ::unsetenv("TMPDIR"); }
    fs::path operator/(const std::string& name) const { return folder_ / name; }

private:
    tests::Folder folder_;
};

void make_old(const fs::path& folder) {
    fs::last_write_time(folder / ".lock", fs::file_time_type::clock::now() - std::chrono::hours(1));
}

TEST_CASE("A scratch folder removes those that killed processes left, and no other", "[run]") {
    const TemporaryFolder temporary;
    for (const char* const name : {"systole_killed", "systole_young", "other_killed"}) {
        fs::create_directory(temporary / name);
        write_file(temporary / name / ".lock", {});
        write_file(temporary / name / "network", {});
    }
    fs::create_directory(temporary / "systole_folder");  // of somebody else: it has no lock
    make_old(temporary / "systole_killed");
    make_old(temporary / "other_killed");
    std::optional<run::ScratchFolder> held;
    held.emplace();
    make_old(held->path());
    const run::ScratchFolder further;
    CHECK_FALSE(fs::exists(temporary / "systole_killed"));
    CHECK(fs::exists(temporary / "systole_young"));
    CHECK(fs::exists(temporary / "other_killed"));
    CHECK(fs::exists(temporary / "systole_folder"));
    CHECK(fs::exists(held->path()));
    const fs::path path = held->path();
    held.reset();
    CHECK_FALSE(fs::exists(path));
}

}  // namespace
