#include "sim/run/path_finder.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "hw/machine/config_error.h"

using namespace systole;
namespace fs = std::filesystem;

namespace {

/// Folders of its own, in which the test stands; gone afterwards.
class Place {
public:
    Place() : before_(fs::current_path()) {
        root_ = fs::temp_directory_path() / ("systole_paths_" + std::to_string(getpid()));
        for (const char* folder : {"here", "repo/configs/runs", "repo/configs/machines", "repo/models"}) {
            fs::create_directories(root_ / folder);
        }
        for (const char* file : {"repo/configs/machines/chip.json", "repo/models/net.h5", "here/near.h5",
                                 "repo/near.h5", "repo/configs/runs/beside.h5"}) {
            std::ofstream(root_ / file) << "x";
        }
        fs::current_path(root_ / "here");
    }
    ~Place() {
        fs::current_path(before_);
        fs::remove_all(root_);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    fs::path root() const { return root_; }

private:
    fs::path before_;
    fs::path root_;
};

}  // namespace

TEST_CASE("A path is looked up in the current folder, beside the run file, and above it", "[run]") {
    const Place place;
    const run::PathFinder paths(place.root() / "repo/configs/runs/run.json");
    CHECK(fs::equivalent(paths.find("near.h5"), place.root() / "here/near.h5"));
    CHECK(fs::equivalent(paths.find("beside.h5"), place.root() / "repo/configs/runs/beside.h5"));
    CHECK(fs::equivalent(paths.find("models/net.h5"), place.root() / "repo/models/net.h5"));
    CHECK(paths.find("nowhere.h5") == "nowhere.h5");
    CHECK(paths.find((place.root() / "nowhere").string()) == place.root() / "nowhere");
}

TEST_CASE("Without a run file only the current folder counts", "[run]") {
    const Place place;
    const run::PathFinder paths({});
    CHECK(fs::equivalent(paths.find("near.h5"), place.root() / "here/near.h5"));
    CHECK(paths.find("models/net.h5") == "models/net.h5");
}

TEST_CASE("Names are found in the folders of the user and of the project, the nearest first", "[run]") {
    const Place place;
    const fs::path root = place.root();
    const run::NameFolders folders{.of_user = {root / "own", root / "shared"}, .shipped = root / "repo"};
    const run::PathFinder paths({}, folders);
    CHECK(paths.find("chip", "machines") == root / "repo/configs/machines/chip.json");
    CHECK(paths.find("net", "models") == root / "repo/models/net.h5");
    CHECK(paths.find("models/net.h5") == root / "repo/models/net.h5");
    CHECK(paths.find("net.h5") == "net.h5");  // a path without folder is not looked up there

    for (const char* folder :
         {"shared/configs/machines", "shared/machines", "own/machines", "own/models/nets"}) {
        fs::create_directories(root / folder);
    }
    std::ofstream(root / "shared/configs/machines/chip.json") << "x";
    CHECK(paths.find("chip", "machines") == root / "shared/configs/machines/chip.json");
    std::ofstream(root / "shared/machines/chip.json") << "x";
    CHECK(paths.find("chip", "machines") == root / "shared/machines/chip.json");
    std::ofstream(root / "own/machines/chip.json") << "x";
    CHECK(paths.find("chip", "machines") == root / "own/machines/chip.json");
    std::ofstream(root / "own/models/nets/net.json") << "x";
    std::ofstream(root / "own/models/nets/notes.md") << "x";
    CHECK(paths.find("net", "models") == root / "own/models/nets/net.json");
    CHECK(paths.names("models") == std::set<std::string>{"net"});
    CHECK(paths.names("machines") == std::set<std::string>{"chip"});
    CHECK_THROWS_WITH(
        paths.find("chop", "machines"),
        "chop: there is no such file, nor a configs/machines/chop.json; looked in the current folder "
        "and those above it, " +
            (root / "own").string() + ", " + (root / "shared").string() + ", " + (root / "repo").string() +
            "; did you mean \"chip\"?");
    const std::string here = "; looked in the current folder";
    CHECK_THROWS_WITH(paths.find("chop.json", "machines"),
                      "chop.json: there is no such file" + here + "; did you mean \"chip\"?");
    std::ofstream("package.json") << "x";  // perhaps of another kind
    CHECK_THROWS_WITH(paths.find("zzz.json", "machines"),
                      "zzz.json: there is no such file" + here + "; there is only chip");
    CHECK_THROWS_WITH(paths.find("configs/machines/chop.json", "machines"),
                      "configs/machines/chop.json: there is no such file" + here + ", " +
                          (root / "repo").string() + "; did you mean \"configs/machines/chip.json\"?");
    CHECK_THROWS_WITH(paths.find("config/chip.json", "machines"), "config/chip.json: there is no such file" +
                                                                      here + ", " + (root / "repo").string() +
                                                                      "; did you mean \"chip\"?");
    CHECK_THROWS_WITH(paths.find("none/zzz.json", "machines"),
                      "none/zzz.json: there is no such file" + here + ", " + (root / "repo").string());
    const std::string absolute = (root / "repo/configs/machines/chp.json").string();
    CHECK_THROWS_WITH(paths.find(absolute, "machines"),
                      absolute + ": there is no such file; did you mean \"" +
                          (root / "repo/configs/machines/chip.json").string() + "\"?");
    // A folder is found, and its reader refuses it.
    CHECK(paths.find("..", "machines") == "..");
    CHECK(paths.find(".", "machines") == ".");
    fs::create_directory("chip");  // a folder is no machine
    CHECK(paths.find("chip", "machines") == root / "own/machines/chip.json");
}

TEST_CASE("A bare name stands for a file in configs", "[run]") {
    const Place place;
    const run::PathFinder paths(place.root() / "repo/configs/runs/run.json");
    CHECK(fs::equivalent(paths.find("chip", "machines"), place.root() / "repo/configs/machines/chip.json"));
    CHECK(paths.knows("chip", "machines"));
    CHECK_FALSE(paths.knows("chip", "baselines"));
    CHECK_FALSE(run::PathFinder({}).knows("chip", "machines"));
    CHECK_THROWS_AS(paths.find("chip", "baselines"), machine::ConfigError);
    CHECK_THROWS_AS(paths.find("chip.json", "machines"), machine::ConfigError);

    fs::current_path(place.root() / "repo/models");  // names are found from below the root, too
    CHECK(fs::equivalent(run::PathFinder({}).find("chip", "machines"),
                         place.root() / "repo/configs/machines/chip.json"));
}
