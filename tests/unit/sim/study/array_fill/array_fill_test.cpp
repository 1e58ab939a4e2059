#include "sim/study/array_fill/array_fill.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "hw/machine/machine_config.h"
#include "tests/support/source_dir.h"

using namespace systole;
using studies::FillPoint;
using studies::FillRow;

namespace {

machine::MachineConfig tpu_v1() {
    return machine::read_machine(std::filesystem::path(tests::source_dir()) / "configs/machines/tpu_v1.json");
}

std::vector<FillPoint> some_points() {
    return {{{.size_multiplier = 1, .width_multiplier = 1}, 4},
            {{.size_multiplier = 2, .width_multiplier = 1}, 4},
            {{.size_multiplier = 1, .width_multiplier = 4}, 4}};
}

}  // namespace

TEST_CASE("SIZE_MULTIPLIER scales the image, the width multiplier the layers", "[studies]") {
    const auto work = [](std::uint32_t size, std::uint32_t width) {
        return ir::macs(studies::article_cnn({.size_multiplier = size, .width_multiplier = width}));
    };
    const auto at = [](std::uint64_t size, std::uint64_t width) {
        const std::uint64_t pixels = 28 * 28 * size * size;
        return pixels * 9 * 12 * width + pixels / 4 * 36 * 12 * width * 24 * width +
               pixels / 16 * 36 * 24 * width * 64 * width + pixels / 16 * 64 * width * 200 * width +
               200 * width * 10;
    };
    CHECK(work(1, 1) == at(1, 1));
    CHECK(work(3, 1) == at(3, 1));
    CHECK(work(1, 5) == at(1, 5));
}

TEST_CASE("Each row's cycles are all accounted for, whatever the number of workers", "[studies]") {
    const machine::MachineConfig machine = tpu_v1();
    const std::vector<FillPoint> points = some_points();
    const std::vector<FillRow> rows = studies::study_fill(machine, points, 2);
    REQUIRE(rows.size() == 3);
    for (const FillRow& row : rows) {
        INFO(row.point.network.size_multiplier << " " << row.point.network.width_multiplier);
        CHECK(row.error.empty());
        CHECK(row.active + row.weight_stall + row.weight_shift + row.non_matrix == Approx(1.0));
        CHECK(row.useful > 0.0);
        CHECK(row.useful <= row.active);
        CHECK(row.macs == ir::macs(studies::article_cnn(row.point.network)));
        // The chip does what the network asks for, and what the layers' borders make it repeat.
        const double peak_macs = static_cast<double>(machine.tile_bytes()) * static_cast<double>(row.cycles);
        CHECK(row.useful * peak_macs >= 2.0 * row.point.batch * static_cast<double>(row.macs) * 0.9);
    }
    CHECK(rows[2].useful > rows[0].useful);  // wider layers fill more of the array
    CHECK(studies::study_fill(machine, points, 1) == rows);
}

TEST_CASE("A point that does not fit the machine has an error in its row, and no effect on others",
          "[studies]") {
    machine::MachineConfig machine = tpu_v1();
    machine.unified_buffer.rows = 2048;
    const std::vector<FillPoint> points{{{.size_multiplier = 16, .width_multiplier = 1}, 1},
                                        {{.size_multiplier = 1, .width_multiplier = 1}, 1}};
    const std::vector<FillRow> rows = studies::study_fill(machine, points);
    CHECK_FALSE(rows[0].error.empty());
    CHECK(rows[0].cycles == 0);
    CHECK(rows[1].error.empty());
}

TEST_CASE("first_above returns the first row above a share", "[studies]") {
    std::vector<FillRow> rows(3);
    rows[0].useful = 0.2;
    rows[1].useful = 0.6;
    rows[1].point = {{.size_multiplier = 2, .width_multiplier = 1}, 16};
    rows[2].useful = 0.9;
    CHECK(studies::first_above(rows, 0.5)->point.batch == 16);
    CHECK(studies::first_above(rows, 0.6)->useful == 0.9);
    CHECK_FALSE(studies::first_above(rows, 0.9));
}

TEST_CASE("SIZE_MULTIPLIER never fills a tenth of TPU v1's array; widths fill half of it", "[studies]") {
    // What docs/baselines.md says.
    for (const FillRow& row : studies::study_fill(tpu_v1(), studies::fill_points())) {
        const auto [size, width] = row.point.network;
        INFO("size x" << size << ", width x" << width << ", batch " << row.point.batch);
        CHECK(row.error.empty());
        if (width == 1 || row.point.batch == 1) CHECK(row.useful < 0.1);
        if (width == 16 && row.point.batch == 256) CHECK(row.useful > 0.5);
    }
}
