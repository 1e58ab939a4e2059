// Rule 1 of docs/timing.md, "Lines of windows": what lines cost, from the page's formula, over kernels,
// strides, channels, precisions and parts of the window.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "tests/support/chip.h"
#include "tests/unit/hw/core/odd_machine.h"

using namespace systole;
using tests::Chip;
using tests::odd_machine;

namespace {

constexpr std::uint64_t array_rows = 7;
constexpr std::uint64_t lines = 3;

std::uint64_t over(std::uint64_t dividend, std::uint64_t divisor) {
    return (dividend + divisor - 1) / divisor;
}

struct Windows {
    std::uint64_t kernel_height;
    std::uint64_t kernel_width;
    std::uint64_t channels;
    std::uint64_t stride;
    std::uint64_t width;  ///< windows of a line
    std::uint64_t tile;   ///< which tile of the window

    std::uint64_t elements() const { return kernel_height * kernel_width * channels; }
    std::uint64_t first() const { return tile * array_rows; }
    std::uint64_t end() const { return std::min(first() + array_rows, elements()); }

    /// Accesses that fetch a line; each kernel row of the tile is fetched separately.
    std::uint64_t fetches(std::uint64_t element_bytes) const {
        const std::uint64_t row = kernel_width * channels;
        std::uint64_t sum = 0;
        for (std::uint64_t y = 0; y < kernel_height; ++y) {
            const std::uint64_t from = std::max(first(), y * row);
            const std::uint64_t until = std::min(end(), (y + 1) * row);
            if (from >= until) continue;
            const std::uint64_t w = (until - from) * element_bytes;
            const std::uint64_t s = stride * channels * element_bytes;
            sum += std::min(over((width - 1) * s + w, array_rows), width * over(w, array_rows));
        }
        return sum;
    }
    std::string text(std::uint64_t element_bytes, std::uint64_t weight_bytes) const {
        const std::uint64_t height = lines - 1 + kernel_height;
        const std::uint64_t input_width = (width - 1) * stride + kernel_width;
        return fmt::format(
            ".array 7 5\n.tile {} 5 bytes={} random 1\nset window.channels {}\nset window.kernel_height {}\n"
            "set window.kernel_width {}\nset window.stride_x {}\nset window.input_height {}\n"
            "set window.input_width {}\nset window.output_height {}\nset window.output_width {}\n"
            "set window.image_rows {}\nset window.tile {}\n",
            end() - first(), weight_bytes, channels, kernel_height, kernel_width, stride, height, input_width,
            lines, width, over(height * input_width * channels * element_bytes, array_rows), tile);
    }
};

struct LinePrecision {
    const char* flags;
    std::uint64_t passes;
    std::uint64_t weight_bytes;
    std::uint64_t element_bytes;
};

constexpr LinePrecision line_precisions[] = {
    {"", 1, 1, 1}, {"wide_a", 2, 1, 2}, {"wide_w", 2, 2, 1}, {"wide_a wide_w", 4, 2, 2}};

}  // namespace

TEST_CASE("Rule 1: a line takes the cycles of its rows or of its fetches, whichever are more", "[timing]") {
    const auto precision = GENERATE(from_range(std::begin(line_precisions), std::end(line_precisions)));
    const auto engine = GENERATE(machine::Engine::Wavefront, machine::Engine::Pe);
    constexpr unsigned seed = 2609;
    std::mt19937 random(seed);
    const auto draw = [&](std::uint64_t least, std::uint64_t most) {
        return least + random() % (most - least + 1);
    };
    int slower = 0;
    int equal = 0;
    int faster = 0;
    for (int i = 0; i < 120; ++i) {
        Windows windows{.kernel_height = draw(1, 7),
                        .kernel_width = draw(1, 3),
                        .channels = draw(1, 5),
                        .stride = draw(1, 5),
                        .width = draw(1, 6),
                        .tile = 0};
        // Seven kernel rows of a pixel each, far apart: more fetches than any precision's passes.
        const bool slow = i == 0;
        if (slow)
            windows = {
                .kernel_height = 7, .kernel_width = 1, .channels = 1, .stride = 5, .width = 4, .tile = 0};
        windows.tile = draw(0, (windows.elements() - 1) / array_rows);
        machine::MachineConfig machine = odd_machine();
        machine.matrix_unit.engine = engine;
        machine.unified_buffer.rows = 4096;
        machine.systolic_data_setup.fetches_per_cycle = slow ? 1U : static_cast<std::uint32_t>(draw(1, 3));
        INFO("seed " << seed << ", run " << i << ", " << windows.text(precision.element_bytes, 1)
                     << precision.flags);
        Chip chip(machine, windows.text(precision.element_bytes, precision.weight_bytes) +
                               fmt::format("read_weights tile=0\nconvolve ub=0 acc=0 lines={0} {1}\n"
                                           "matmul ub=0 acc=40 rows=1 keep {1}\nhalt\n",
                                           lines, precision.flags));
        chip.run();
        const auto streams = chip.times(isa::QueueId::Matrix);
        REQUIRE(streams.size() == 2);
        const std::uint64_t fetches = windows.fetches(precision.element_bytes);
        const Cycle input = windows.width * precision.passes;
        const Cycle fetching = over(fetches, machine.systolic_data_setup.fetches_per_cycle);
        const Cycle line = std::max(input, fetching);
        CHECK(streams[1].begun == streams[0].begun + lines * line);
        const Cycle last_pass = streams[0].begun + (lines - 1) * line + input - 1;
        CHECK(streams[0].complete == std::max(last_pass + tests::odd_latency, streams[1].begun));
        CHECK(chip->counter("matrix_unit.active_cycles").value() == lines * input + precision.passes);
        CHECK(chip->counter("matrix_unit.setup_stall_cycles").value() == lines * (line - input));
        CHECK(chip->counter("unified_buffer.reads").value() == lines * fetches + precision.element_bytes);
        (fetching > input ? slower : fetching == input ? equal : faster) += 1;
    }
    CHECK(slower > 0);
    CHECK(equal > 0);
    CHECK(faster > 0);
}
