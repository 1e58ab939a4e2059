// Whole networks on the eight cores of a Cloud TPU, by the figures of docs/cloud_tpu.md.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>

#include "sim/view/report/numbers.h"
#include "tests/support/files.h"
#include "tests/support/sanitizers.h"
#include "tests/system/paths.h"
#include "tests/system/sim_process.h"

using namespace systole;
using tests::foreign_data;
using tests::report_of;
using Json = nlohmann::ordered_json;

namespace {

/// A row of the page's table: the shares are of the cycles of all arrays.
std::string row_of(const Json& report) {
    const Json& unit = report.at("matrix_unit");
    const double all = report.at("cycles").get<double>() * report.at("arrays").get<double>();
    const auto share = [&](const Json& cycles) { return 100 * cycles.get<double>() / all; };
    const auto waits = [&](const char* reason) { return share(unit.at("non_matrix_reasons").at(reason)); };
    return fmt::format("| {} | {} | {:.1f} | {:.3f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} |",
                       report::grouped(report.at("batch").get<std::uint64_t>()),
                       report::grouped(static_cast<std::uint64_t>(
                           std::llround(report.at("inferences_per_second").get<double>()))),
                       100 * report.at("bounds").at("macs").get<double>() / report.at("cycles").get<double>(),
                       report.at("bounds").at("ratio").get<double>(), share(unit.at("active_cycles")),
                       share(unit.at("weight_stall_cycles")) + share(unit.at("weight_shift_cycles")),
                       waits("vector_work_cycles") + waits("raw_cycles"), waits("program_begin_cycles"),
                       waits("program_end_cycles"));
}

}  // namespace

TEST_CASE("ResNet-50 on eight cores is near its bounds, as docs/cloud_tpu.md says", "[system]") {
    if (tests::is_instrumented) {
        WARN("SKIPPED: takes minutes under sanitizers");
        return;
    }
    const std::string page = tests::text_in(tests::project / "docs/cloud_tpu.md");
    for (const char* const batch : {"128", "1024"}) {
        const Json report = report_of(fmt::format(
            "--model models/coral/resnet50_v1.json --machine tpu_v2_8 --timing-only --batch {}", batch));
        const std::string row = row_of(report);
        INFO(row);
        const bool is_on_page = page.find(row) != std::string::npos;
        CHECK(is_on_page);
        CHECK(report.at("bounds").at("ratio").get<double>() <= 1.15);
        const Json& unit = report.at("matrix_unit");
        const auto useful = unit.at("useful_macs").get<double>();
        const std::string fill = fmt::format("useful work in {:.1f} % of its cells",
                                             100 * useful / (useful + unit.at("unused_macs").get<double>()));
        INFO(fill);
        const bool has_fill = page.find(fill) != std::string::npos;
        CHECK(has_fill);
    }
}

TEST_CASE("On MNIST the eight cores are as accurate as float", "[system]") {
    if (tests::is_instrumented) {
        WARN("SKIPPED: takes minutes under sanitizers");
        return;
    }
    const std::string folder = (foreign_data / "mnist").string();
    if (!std::filesystem::exists(folder)) {
        WARN("SKIPPED: MNIST is not there");
        return;
    }
    const Json report = report_of("mnist_cnn --machine tpu_v2_8 --batch 512 --float-reference --input " +
                                  folder + "/t10k-images-idx3-ubyte.gz --labels " + folder +
                                  "/t10k-labels-idx1-ubyte.gz --limit 10000");
    REQUIRE(report.at("inferences") == 10000);
    CHECK(report.at("host_operations").empty());
    // At most 0.05 points apart.
    CHECK(report.at("accuracy").get<double>() ==
          Approx(report.at("float_reference").at("accuracy").get<double>()).margin(0.0005));
}
