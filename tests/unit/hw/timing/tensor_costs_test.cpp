// The costs of work in a tensor core: docs/timing.md, "Machines with a tensor core". Numbers are computed by
// hand, and the rows of windows counted pixel by pixel.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "hw/isa/instruction.h"
#include "hw/isa/panels.h"
#include "hw/isa/registers.h"
#include "hw/machine/machine_config.h"
#include "hw/timing/tensor.h"

using namespace systole;
using isa::Register;

namespace {

machine::MachineConfig machine_of_lanes(std::uint32_t lanes, std::uint32_t sublanes) {
    machine::MachineConfig machine;
    machine.family = machine::Family::TensorCore;
    machine.vector_unit.lanes = lanes;
    machine.vector_unit.sublanes = sublanes;
    return machine;
}

isa::Product product_of(std::uint32_t rows, std::uint16_t depth) {
    return {.rows = rows, .depth = depth, .columns = 1};
}

/// Rows of vector memory that windows of whole lines read: each pixel between the first and the last tap that
/// a window has in a kernel line once, as far as an image without padding has it, in each panel that is read.
/// Of packed pixels, two are in a row.
std::uint64_t counted_rows(const isa::PixelWindows& w, std::uint64_t first, std::uint64_t depth,
                           std::uint64_t lanes, bool packed) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::set<std::uint64_t>> pixels;  // by line and panel
    const std::uint64_t kernel_row = w.kernel_width * w.channels;
    for (std::uint64_t line = 0; line < w.kernel_height; ++line) {
        const std::uint64_t begin = std::max(first, line * kernel_row);
        const std::uint64_t end = std::min(first + depth, (line + 1) * kernel_row);
        if (begin >= end) continue;
        const std::uint64_t first_tap = (begin - line * kernel_row) / w.channels;
        const std::uint64_t last_tap = (end - 1 - line * kernel_row) / w.channels;
        for (std::uint64_t window = 0; window < w.output_width; ++window) {
            for (std::uint64_t pixel = window * w.stride_x + first_tap * w.dilation_x;
                 pixel <= window * w.stride_x + last_tap * w.dilation_x; ++pixel) {
                const bool one_tap = first_tap == last_tap;
                const std::uint64_t from = one_tap ? begin % w.channels : 0;
                const std::uint64_t to = one_tap ? (end - 1) % w.channels : w.channels - 1;
                for (std::uint64_t panel = from / lanes; panel <= to / lanes; ++panel) {
                    pixels[{line, panel}].insert(pixel);
                }
            }
        }
    }
    std::uint64_t rows = 0;
    for (const auto& [place, read] : pixels) rows += packed ? (read.size() + 1) / 2 : read.size();
    return rows;
}

}  // namespace

TEST_CASE("Rows of a product follow each other unless their panels take longer to read", "[timing]") {
    isa::Registers registers;
    const auto streamed = [&](std::uint32_t sublanes, bool packed = false) {
        isa::Product product = product_of(64, 128);
        product.packed = packed;
        return timing::streamed_product(product, registers, machine_of_lanes(128, sublanes));
    };
    CHECK(streamed(8).fetched_rows == 64);
    CHECK(streamed(8).shape.span() == 64);
    CHECK(streamed(8).shape.gaps() == 0);
    registers.set(Register::ProductFirst, 100);  // elements in two panels
    CHECK(streamed(8).fetched_rows == 2 * 64);
    CHECK(streamed(8).shape.span() == 64);
    CHECK(streamed(1).shape.span() == 2 * 64);
    CHECK(streamed(1).shape.active_cycles() == 64);
    CHECK(streamed(1, true).fetched_rows == 64);  // two rows in one
    CHECK(streamed(3).shape.span() == 64);
}

TEST_CASE("Windows read each pixel once for a kernel line, in the panels of their channels", "[timing]") {
    std::mt19937 random(1);
    const auto draw = [&](std::uint32_t lowest, std::uint32_t highest) {
        return std::uniform_int_distribution<std::uint32_t>(lowest, highest)(random);
    };
    for (int run = 0; run < 500; ++run) {
        isa::Registers registers;
        const std::uint32_t kernel_width = draw(1, 4);
        const std::uint32_t stride = draw(1, 3);
        const std::uint32_t dilation = draw(1, 2);
        const std::uint32_t output_width = draw(1, 6);
        registers.set(Register::WindowInputHeight, 9);
        // No padding: the windows just fill a line.
        registers.set(Register::WindowInputWidth,
                      (output_width - 1) * stride + (kernel_width - 1) * dilation + 1);
        registers.set(Register::WindowChannels, draw(1, 20));
        registers.set(Register::WindowImageRows, 9 * registers[Register::WindowInputWidth]);
        registers.set(Register::WindowKernelHeight, draw(1, 3));
        registers.set(Register::WindowKernelWidth, kernel_width);
        registers.set(Register::WindowStrideX, stride);
        registers.set(Register::WindowDilationX, dilation);
        registers.set(Register::WindowOutputHeight, 3);
        registers.set(Register::WindowOutputWidth, output_width);
        const isa::PixelWindows windows = isa::pixel_windows(registers);
        const auto first = draw(0, static_cast<std::uint32_t>(windows.elements()) - 1);
        const auto depth = draw(1, static_cast<std::uint32_t>(windows.elements()) - first);
        registers.set(Register::ProductFirst, first);
        isa::Product product = product_of(3 * output_width, static_cast<std::uint16_t>(depth));
        product.windows = true;
        product.packed = run % 2 == 1;
        const auto cost = timing::streamed_product(product, registers, machine_of_lanes(8, 2));
        CAPTURE(kernel_width, stride, dilation, output_width, windows.channels, first, depth, product.packed);
        REQUIRE(cost.fetched_rows == 3 * counted_rows(windows, first, depth, 8, product.packed));
    }
}

TEST_CASE("High-bandwidth memory moves bytes at the share of its bandwidth that transfers reach",
          "[timing]") {
    machine::MachineConfig machine = machine_of_lanes(128, 8);
    machine.clock_mhz = 700;
    machine.hbm.bandwidth_gb_per_s = 350;
    CHECK(timing::hbm_cycles(1'000'000, machine) == 2000);
    machine.hbm.efficiency = 0.8;
    CHECK(timing::hbm_cycles(1'000'000, machine) == 2500);
}

TEST_CASE("Data of a collective go along the chain of cores in chunks", "[timing][tensor]") {
    machine::MachineConfig machine;
    machine.family = machine::Family::TensorCore;
    machine.clock_mhz = 1000;
    machine.vector_unit.lanes = 4;  // 16 bytes a row
    machine.system = {.chips = 4, .cores = 2};
    machine.interconnect = {.gb_per_s = 4, .chunk_bytes = 16, .latency_cycles = 3};
    const auto cost = [&](isa::CollectiveKind kind, std::size_t core, std::uint32_t rows) {
        return timing::collective_cost({.kind = kind, .cores = 8, .result = 0, .source = 0, .rows = rows},
                                       core, machine);
    };
    using enum isa::CollectiveKind;
    // Ten rows are 160 bytes, 40 cycles over a link; each further link adds a chunk of 4 cycles.
    CHECK(cost(AllReduce, 7, 10).cycles == 40 + 6 * 4 + 7 * 3);
    CHECK(cost(AllReduce, 0, 10).cycles == 40 + 13 * 4 + 14 * 3);
    CHECK(cost(AllReduce, 0, 10).sent_bytes == 160);
    CHECK(cost(AllReduce, 3, 10).sent_bytes == 320);
    CHECK(cost(Broadcast, 5, 10).cycles == 40 + 4 * 4 + 5 * 3);
    CHECK(cost(Broadcast, 0, 10).cycles == 40 + 3);
    CHECK(cost(Broadcast, 7, 10).sent_bytes == 0);
    CHECK(cost(ReduceScatter, 7, 10).cycles == 8 * 40 + 6 * 4 + 7 * 3);
    CHECK(cost(ReduceScatter, 2, 10).sent_bytes == 160 * 8 + 160 * 2);
    CHECK(cost(AllGather, 7, 10).cycles == 7 * 40 + 6 * 4 + 7 * 3);
    CHECK(cost(AllGather, 3, 10).cycles == 4 * 40 + 3 * 4 + 4 * 3);
    CHECK(cost(AllGather, 3, 10).sent_bytes == 160 * 4 + 160 * 5);
    // The time is rounded up to whole cycles; a chunk is not larger than the data.
    machine.interconnect.chunk_bytes = 1000;
    machine.interconnect.gb_per_s = 5;
    CHECK(cost(Broadcast, 2, 1).cycles == 7 + 2 * 3);
    // A core alone has nobody to wait for.
    machine.system = {.chips = 1, .cores = 1};
    CHECK(timing::collective_cost({.kind = AllReduce, .cores = 1, .result = 0, .source = 0, .rows = 5}, 0,
                                  machine)
              .cycles == 1);
}
