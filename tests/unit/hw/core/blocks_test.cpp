// Blocks of output pixels (docs/isa.md): the multiply-accumulates that count, and rule 7 of docs/timing.md.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "tests/support/chip.h"
#include "tests/unit/hw/core/odd_machine.h"

using namespace systole;
using tests::odd_machine;
using tests::TimedChip;

namespace {

/// Windows of 7 elements that are blocks of 2 x 3 pixels; two tiles, of which one gives the MACs of each
/// pixel.
std::string blocks_of(unsigned width, unsigned height, std::string_view tile) {
    return fmt::format(
        ".array 7 6\n.tile 7 6 {2} fill 1\n.tile 7 6 useful=8 {3} fill 1\n"
        "set window.channels 1\nset window.input_height 40\nset window.input_width 40\n"
        "set window.kernel_height 7\nset window.image_rows 1600\n"
        "set window.output_width {0}\nset window.output_height {1}\n"
        "set block.width 2\nset block.height 3\nset block.output_width {4}\nset block.output_height {5}\n"
        "read_weights tile=0 count=2\n",
        (width + 1) / 2, (height + 2) / 3, tile, tile.starts_with("bytes=2") ? "bytes=2" : "", width, height);
}

machine::MachineConfig machine_with(machine::Engine engine) {
    machine::MachineConfig machine = odd_machine();
    machine.matrix_unit.columns = 6;
    machine.matrix_unit.engine = engine;
    machine.unified_buffer.rows = 20'000;
    return machine;
}

}  // namespace

TEST_CASE("The MACs of a convolution with blocks are those of pixels inside the image", "[timing]") {
    const auto engine = GENERATE(machine::Engine::Wavefront, machine::Engine::Pe);
    const unsigned width = GENERATE(1U, 3U, 4U);
    const unsigned height = GENERATE(1U, 5U, 6U);
    const unsigned first = GENERATE(0U, 1U, 3U);
    const unsigned lines = GENERATE(1U, 2U, 5U);
    const bool wide = GENERATE(false, true);
    CAPTURE(engine, width, height, first, lines, wide);
    constexpr unsigned macs[] = {1, 2, 3, 4, 5, 6};
    const std::string flags = wide ? "wide_w" : "";
    TimedChip chip(machine_with(engine),
                   blocks_of(width, height, wide ? "bytes=2 block=1,2,3,4,5,6" : "block=1,2,3,4,5,6") +
                       fmt::format("tag 1\nconvolve ub=0 acc=0 line={0} lines={1} {2}\n"
                                   "tag 2\nmatmul ub=0 acc=0 rows=3 keep {2}\n"
                                   "tag 3\nconvolve ub=0 acc=0 line={0} lines={1} {2}\nhalt\n",
                                   first, lines, flags));
    chip.run();
    const unsigned across = (width + 1) / 2;
    const unsigned down = (height + 2) / 3;
    std::uint64_t needed = 0;
    for (unsigned row = 0; row < lines * across; ++row) {
        for (unsigned part = 0; part < 6; ++part) {
            const unsigned x = row % across * 2 + part % 2;
            const unsigned y = (first + row / across) % down * 3 + part / 2;
            if (x < width && y < height) needed += macs[part];
        }
    }
    const std::uint64_t passes = wide ? 2 : 1;
    const auto of = [&](const char* name, hw::Tag tag) {
        return chip->counter(std::string("matrix_unit.") + name).value(tag);
    };
    CHECK(of("multiply_accumulates", 1) == needed);
    CHECK(of("useful_macs", 1) == needed * passes);
    // Without blocks, and with a tile without MACs for them, a row counts as a whole.
    CHECK(of("multiply_accumulates", 2) == 3 * 21);
    CHECK(of("multiply_accumulates", 3) == std::uint64_t{lines} * across * 8);
    for (hw::Tag tag = 1; tag <= 3; ++tag) {
        CHECK(of("useful_macs", tag) + of("unused_macs", tag) == of("active_cycles", tag) * 7 * 6);
    }
}

TEST_CASE("A tile for blocks of another number of pixels is an error", "[timing]") {
    const auto engine = GENERATE(machine::Engine::Wavefront, machine::Engine::Pe);
    TimedChip chip(machine_with(engine),
                   blocks_of(3, 3, "block=1,2,3") + "convolve ub=0 acc=0 lines=1\nhalt\n");
    CHECK_THROWS_WITH(chip.run(),
                      Catch::Contains("its blocks have 6 pixels, the tile it meets is for blocks of 3"));
}

TEST_CASE("Rule 7: a row takes the writes of each line of its block, also of those outside the image",
          "[timing]") {
    const unsigned width = GENERATE(1U, 2U, 5U);
    const unsigned height = GENERATE(1U, 3U);
    const unsigned pixel_bytes = GENERATE(1U, 3U, 4U, 30U);
    const unsigned rows = GENERATE(1U, 6U);
    CAPTURE(width, height, pixel_bytes, rows);
    machine::MachineConfig machine = odd_machine();
    machine.matrix_unit.columns = 15;
    TimedChip chip(machine, fmt::format(".array 7 15\nset activation.columns {0}\n"
                                        "set activation.pixel_bytes {1}\nset activation.image_rows 9\n"
                                        "set activation.outputs_per_image 1\n"
                                        "set block.width {2}\nset block.height {3}\n"
                                        "set block.output_width 1\nset block.output_height 1\n"
                                        "activate acc=0 ub=0 rows={4} identity\nhalt\n",
                                        width * height, pixel_bytes, width, height, rows));
    chip.run();
    const auto times = chip.times(isa::QueueId::Activation);
    REQUIRE(times.size() == 1);
    // Accesses of 7 bytes: from the first pixel's byte to the last's, or one for each pixel.
    const unsigned together = ((width - 1) * pixel_bytes + 1 + 6) / 7;
    const std::uint64_t writes = std::uint64_t{rows} * height * std::min(together, width);
    CHECK(times[0].released - times[0].begun == writes);
    CHECK(chip->counter("unified_buffer.writes").value() == writes);
    CHECK(chip->counter("activation_unit.elements").value() == rows * width * height);
}
