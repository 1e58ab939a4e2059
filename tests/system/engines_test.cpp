// A whole network on the engine that moves every register every cycle.
#include <catch2/catch.hpp>
#include <string>

#include "tests/system/sim_process.h"

using namespace systole;
using tests::report_of;
using Json = nlohmann::ordered_json;

TEST_CASE("The digit network takes the same cycles and gives the same answers on every engine", "[system]") {
    // Fewer images than a batch, and an array that leaves tiles over in both directions.
    const auto* size =
        GENERATE("", " --set machine.matrix_unit.rows=60 --set machine.matrix_unit.columns=28");
    const std::string run = std::string("configs/runs/mnist_cnn.json --batch 3 --limit 5") + size;
    const Json wavefront = report_of(run);
    const Json pe = report_of(run + " --set machine.matrix_unit.engine=pe");
    CHECK(pe["configuration"]["machine"]["matrix_unit"]["engine"] == "pe");
    CHECK(wavefront["configuration"]["machine"]["matrix_unit"]["engine"] == "wavefront");
    CHECK(pe["predictions"].size() == 5);
    for (const char* key : {"cycles", "predictions", "matrix_unit", "layers", "traffic", "units"}) {
        INFO(key);
        REQUIRE_FALSE(pe[key].is_null());
        CHECK(pe[key] == wavefront[key]);
    }
}
