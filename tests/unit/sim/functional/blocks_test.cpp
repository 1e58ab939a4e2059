// docs/isa.md, "Blocks of pixels": a convolution computed by blocks of its output pixels gives the bytes and
// the multiply-accumulates of the same one computed pixel by pixel, in whatever runs a program.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hw/system/system.h"
#include "sim/functional/executor.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/program_interpreter.h"
#include "tests/support/random_runs.h"
#include "tests/unit/sim/functional/run.h"

using namespace systole;
using functional::tests::Bytes;
using functional::tests::Random;
using functional::tests::small_machine;

namespace {

constexpr std::uint32_t blocks_array_rows = 64;
constexpr std::uint32_t blocks_array_columns = 24;
constexpr std::uint32_t blocks_buffer_rows = 200;
constexpr std::uint32_t blocks_sums_rows = 128;

/// A convolution with random weights and parameters.
struct Convolution {
    explicit Convolution(Random& random)
        : input(random.from(3, 7)),
          channels(random.from(1, 2)),
          kernel(random.from(1, 3)),
          stride(random.from(1, 2)),
          pad(kernel == 1 ? 0 : random.from(0, 1)),
          filters(random.from(1, 3)),
          output((input + 2 * pad - kernel) / stride + 1),
          offset(random.from(0, 2)),
          pixel_bytes(offset + filters + random.from(0, 2)),
          first_rows(random.from(1, 9)),
          seed(random.from(0, 99999)) {
        for (std::uint32_t i = 0; i < kernel * kernel * channels * filters; ++i) {
            weights.push_back(static_cast<int>(random.from(0, 255)) - 128);
        }
        for (std::uint32_t f = 0; f < filters; ++f)
            bias.push_back(static_cast<int>(random.from(0, 400)) - 200);
    }

    int weight(std::uint32_t y, std::uint32_t x, std::uint32_t channel, std::uint32_t filter) const {
        return weights[((y * kernel + x) * channels + channel) * filters + filter];
    }
    std::uint64_t macs() const { return std::uint64_t{kernel} * kernel * channels * filters; }

    std::uint32_t input, channels, kernel, stride, pad, filters, output, offset, pixel_bytes, first_rows,
        seed;
    std::vector<int> weights = {};
    std::vector<int> bias = {};
};

/// The program that computes it for two images, by blocks of p x q pixels: windows that are larger by the
/// strides between the pixels, and the weights shifted by them.
std::string program_of(const Convolution& c, std::uint32_t p, std::uint32_t q) {
    const std::uint32_t height = c.kernel + c.stride * (q - 1);
    const std::uint32_t width = c.kernel + c.stride * (p - 1);
    const std::uint32_t columns = p * q * c.filters;
    const std::uint32_t across = (c.output + p - 1) / p;
    const std::uint32_t down = (c.output + q - 1) / q;
    std::string weights;
    for (std::uint32_t y = 0; y < height; ++y) {
        for (std::uint32_t x = 0; x < width; ++x) {
            for (std::uint32_t channel = 0; channel < c.channels; ++channel) {
                for (std::uint32_t column = 0; column < columns; ++column) {
                    const std::uint32_t part = column / c.filters;
                    const std::uint32_t dy = y - c.stride * (part / p);  // beyond the kernel also below zero
                    const std::uint32_t dx = x - c.stride * (part % p);
                    const bool is_inside = dy < c.kernel && dx < c.kernel;
                    weights +=
                        fmt::format(" {}", is_inside ? c.weight(dy, dx, channel, column % c.filters) : 0);
                }
            }
        }
    }
    std::string bias;
    std::string block;
    for (std::uint32_t column = 0; column < columns; ++column) {
        bias += fmt::format(" {}", c.bias[column % c.filters]);
        if (column % c.filters == 0) block += fmt::format("{}{}", column == 0 ? "" : ",", c.macs());
    }
    const std::uint32_t rows = 2 * across * down;
    const std::uint32_t first = std::min(c.first_rows, rows - 1);
    std::string text = fmt::format(".array {} {}\n.buffer out output 0 {}\n.tile {} {} block={}\n.int8{}\n",
                                   blocks_array_rows, blocks_array_columns, 64 * blocks_array_rows,
                                   height * width * c.channels, columns, block, weights);
    text += fmt::format(
        ".unified_buffer 0 {} random {}\n.unified_buffer 100 {}\n.int32{}\n.int32 {}*0x40000000\n.int8 "
        "{}*-7\n"
        ".unified_buffer 136 {} fill 85\n",
        40 * blocks_array_rows, c.seed, 9 * columns, bias, columns, columns, 64 * blocks_array_rows);
    text += fmt::format(
        "set window.input_height {0}; set window.input_width {0}; set window.channels {1}\n"
        "set window.image_rows 10; set window.kernel_height {2}; set window.kernel_width {3}\n"
        "set window.stride_y {4}; set window.stride_x {5}; set window.pad_top {6}; set window.pad_left {6}\n"
        "set window.output_height {7}; set window.output_width {8}; set window.pad_value 3\n"
        "set block.width {9}; set block.height {10}; set block.output_width {11}; set block.output_height "
        "{11}\n",
        c.input, c.channels, height, width, c.stride * q, c.stride * p, c.pad, down, across, p, q, c.output);
    text += fmt::format(
        "set activation.columns {}; set activation.pixel_bytes {}; set activation.channel_offset {}\n"
        "set activation.outputs_per_image {}; set activation.image_rows 20; set activation.parameters_row "
        "100\n"
        "set output.zero_point 90\n",
        columns, c.pixel_bytes, c.offset, across * down);
    return text + fmt::format(
                      "read_weights tile=0\nconvolve ub=0 acc=0 lines={0}\n"
                      "sync.signal matrix sem=0; sync.wait activation sem=0\n"
                      "activate acc=0 ub=136 rows={1} load\n"
                      "activate acc={1} ub=136 rows={2} first={1}\n"
                      "sync.signal activation sem=1; sync.wait host_write sem=1\n"
                      "write_host out ub=136 block={3}\nhalt\n",
                      2 * down, first, rows - first, 64 * blocks_array_rows);
}

Bytes bytes_of(std::span<const std::uint8_t> bytes) {
    return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("A convolution by blocks gives what it gives pixel by pixel") {
    for (unsigned seed = 0; seed < tests::random_runs(60); ++seed) {
        Random random(seed);
        const Convolution convolution(random);
        const std::uint64_t macs =
            2 * std::uint64_t{convolution.output} * convolution.output * convolution.macs();
        Bytes expected;
        for (std::uint32_t p = 1; p <= 3; ++p) {
            for (std::uint32_t q = 1; q <= 3; ++q) {
                const std::uint32_t window = (convolution.kernel + convolution.stride * (q - 1)) *
                                             (convolution.kernel + convolution.stride * (p - 1));
                if (window * convolution.channels > blocks_array_rows ||
                    p * q * convolution.filters > blocks_array_columns) {
                    continue;
                }
                CAPTURE(seed, p, q);
                const isa::Program program = isa::assemble(program_of(convolution, p, q), "test");
                const auto machine = small_machine(program.geometry, blocks_buffer_rows, blocks_sums_rows);
                functional::Executor executor(program, machine);
                executor.run();
                const Bytes result = bytes_of(executor.host_bytes(program.buffers.at(0)));
                if (expected.empty()) expected = result;
                CHECK(result == expected);
                tests::ProgramInterpreter interpreter(
                    program,
                    {.unified_buffer_rows = blocks_buffer_rows, .accumulator_rows = blocks_sums_rows}, {});
                interpreter.run_in_program_order();
                CHECK(interpreter.output() == expected);
                CHECK(interpreter.useful_macs() == macs);
                const tests::FreshSimulation simulation;
                hw::System system("system", machine, program, {.test_delta_delay = {}});
                system.run();
                CHECK(bytes_of(system.host_bytes(program.buffers.at(0))) == expected);
                CHECK(system.counter("matrix_unit.multiply_accumulates").value() == macs);
            }
        }
        // It wrote something, and not everywhere.
        CHECK(std::count(expected.begin(), expected.end(), 85) > 0);
        CHECK(std::count(expected.begin(), expected.end(), 85) < static_cast<long>(expected.size()));
    }
}
