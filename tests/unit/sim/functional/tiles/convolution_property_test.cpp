// Products of random shapes on random tiles are those of the whole image.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <random>

#include "base/arithmetic.h"
#include "base/fixed_point.h"
#include "hw/isa/scaling.h"
#include "tests/support/random_runs.h"
#include "tests/unit/sim/functional/tiles/tile_run.h"

using namespace systole;
using namespace systole::functional::tests;

namespace {

using Register = isa::Register;

/// One direction of the windows of a convolution.
struct Axis {
    int inputs = 0;
    int outputs = 0;
    int tiles = 0;
    int kernel = 0;
    int stride = 0;
    int dilation = 0;
    int pad = 0;
    int before = 0;  ///< pixels of the source's margins
    int after = 0;
};

/// A random product, its program, and its results by loops over the whole image.
class RandomProduct {
public:
    explicit RandomProduct(unsigned seed) : engine_(seed) {
        grid_ = {.lines = 1U << from(0, 2), .columns = 1U << from(0, 2), .lanes = coin() ? 16U : 32U};
        lines_ = axis(grid_.lines);
        columns_ = axis(grid_.columns);
        channels_ = from(1, 7);
        multiply_.product = coin() ? isa::TileProduct::Convolve : isa::TileProduct::Depthwise;
        outputs_ = multiply_.product == isa::TileProduct::Depthwise ? channels_ * from(1, 6) : from(1, 40);
        multiply_.by_channel = coin();
        multiply_.scaling = static_cast<isa::Scaling>(from(0, 3));
        if (!multiply_.by_channel && multiply_.scaling == isa::Scaling::Real) {
            multiply_.scaling = isa::Scaling::Float;
        }
        multiply_.is_signed = coin();
        multiply_.has_signed_weights = coin();
        multiply_.streamed = coin();
        image_ = bytes(lines_.inputs * columns_.inputs * channels_);
        weights_per_output_ = lines_.kernel * columns_.kernel *
                              (multiply_.product == isa::TileProduct::Depthwise ? 1 : channels_);
        weights_ = bytes(outputs_ * weights_per_output_);
        source_zero_ = number(byte(), multiply_.is_signed);
        weight_zero_ = number(byte(), multiply_.has_signed_weights);
        output_zero_ = number(byte(), multiply_.is_signed);
        minimum_ = number(byte(), multiply_.is_signed);
        maximum_ = number(byte(), multiply_.is_signed);
        if (minimum_ > maximum_) std::swap(minimum_, maximum_);
        pad_ = byte();
        for (int n = 0; n < outputs_; ++n) {
            biases_.push_back(from(-3000, 3000));
            const double real = std::uniform_real_distribution<double>(0.0003, 0.01)(engine_);
            const FixedPoint fixed = to_fixed_point(real);
            const auto single = std::bit_cast<std::int32_t>(static_cast<float>(real));
            const auto twice = std::bit_cast<std::uint64_t>(real);
            switch (multiply_.scaling) {
                case isa::Scaling::FixedPoint:
                case isa::Scaling::ToEven:
                    multipliers_.push_back({fixed.multiplier, fixed.shift});
                    break;
                case isa::Scaling::Real:
                    multipliers_.push_back(
                        {static_cast<std::int32_t>(twice), static_cast<std::int32_t>(twice >> 32U)});
                    break;
                case isa::Scaling::Float:
                    multipliers_.push_back({single, 0});
                    break;
            }
            if (!multiply_.by_channel) multipliers_.back() = multipliers_.front();
        }
        positions_ = static_cast<std::uint64_t>(from(1, 10));
        make_program();
    }

    TileRun run() const {
        return TileRun(program_, {.narrow_bytes = std::uint64_t{1} << 17, .positions = positions_});
    }

    /// The packed image of the results.
    Bytes expected() const {
        Bytes result;
        for (int y = 0; y < lines_.outputs; ++y) {
            for (int x = 0; x < columns_.outputs; ++x) {
                for (int n = 0; n < outputs_; ++n) result.push_back(expected(y, x, n));
            }
        }
        return result;
    }

private:
    int from(int lowest, int highest) { return std::uniform_int_distribution<int>(lowest, highest)(engine_); }
    bool coin() { return from(0, 1) == 1; }
    std::uint8_t byte() { return static_cast<std::uint8_t>(from(0, 255)); }
    Bytes bytes(int count) {
        Bytes result(static_cast<std::size_t>(count));
        for (std::uint8_t& each : result) each = byte();
        return result;
    }
    static int number(std::uint8_t stored, bool is_signed) {
        return is_signed ? static_cast<std::int8_t>(stored) : stored;
    }

    /// Windows of an axis, with margins as wide as its tiles need, and a little wider.
    Axis axis(std::uint32_t tiles) {
        Axis axis{.inputs = from(1, 11),
                  .tiles = static_cast<int>(tiles),
                  .kernel = from(1, 3),
                  .stride = from(1, 2),
                  .dilation = from(1, 2)};
        const int reach = (axis.kernel - 1) * axis.dilation;
        axis.pad = from(0, reach);
        const int pad_after = from(0, reach);
        if (axis.inputs + axis.pad + pad_after <= reach) axis.inputs += reach;
        axis.outputs = (axis.inputs + axis.pad + pad_after - reach - 1) / axis.stride + 1;
        const int own_inputs = (axis.inputs + axis.tiles - 1) / axis.tiles;
        const int own_outputs = (axis.outputs + axis.tiles - 1) / axis.tiles;
        for (int output = 0; output < axis.outputs; ++output) {
            const int first_stored = output / own_outputs * own_inputs;
            const int first = output * axis.stride - axis.pad;
            axis.before = std::max(axis.before, first_stored - first);
            axis.after = std::max(axis.after, first + reach + 1 - first_stored - own_inputs);
        }
        axis.before += from(0, 1);
        axis.after += from(0, 1);
        return axis;
    }

    int element(int line, int column, int channel) const {
        const bool is_inside = line >= 0 && line < lines_.inputs && column >= 0 && column < columns_.inputs;
        const int index = (line * columns_.inputs + column) * channels_ + channel;
        const std::uint8_t stored = is_inside ? image_[static_cast<std::size_t>(index)] : pad_;
        return number(stored, multiply_.is_signed) - source_zero_;
    }

    std::uint8_t expected(int y, int x, int n) const {
        const bool is_depthwise = multiply_.product == isa::TileProduct::Depthwise;
        std::int32_t sum = biases_[static_cast<std::size_t>(n)];
        auto weight = weights_.begin() + n * weights_per_output_;
        for (int ky = 0; ky < lines_.kernel; ++ky) {
            for (int kx = 0; kx < columns_.kernel; ++kx) {
                for (int c = 0; c < channels_; ++c) {
                    if (is_depthwise && c != n / (outputs_ / channels_)) continue;
                    sum += element(y * lines_.stride - lines_.pad + ky * lines_.dilation,
                                   x * columns_.stride - columns_.pad + kx * columns_.dilation, c) *
                           (number(*weight++, multiply_.has_signed_weights) - weight_zero_);
                }
            }
        }
        const auto [first, second] = multipliers_[static_cast<std::size_t>(n)];
        const std::uint64_t both =
            std::uint64_t{static_cast<std::uint32_t>(second)} << 32U | static_cast<std::uint32_t>(first);
        std::int32_t scaled = 0;
        switch (multiply_.scaling) {
            case isa::Scaling::FixedPoint:
                scaled = multiply_by_quantized_multiplier(sum, first, second);
                break;
            case isa::Scaling::ToEven:
                scaled = multiply_to_even(sum, first, second);
                break;
            case isa::Scaling::Real:
                scaled = multiply_by_real(sum, std::bit_cast<double>(both));
                break;
            case isa::Scaling::Float:
                scaled = multiply_by_float_to_even(sum, std::bit_cast<float>(first));
                break;
        }
        return static_cast<std::uint8_t>(std::clamp(scaled + output_zero_, minimum_, maximum_));
    }

    void set(Register reg, std::int64_t value) {
        program_.instructions.emplace_back(
            isa::SetConfig{.reg = reg, .value = static_cast<std::uint32_t>(value)});
    }

    static void append_word(Bytes& block, std::int32_t word) {
        for (unsigned i = 0; i < 4; ++i) {
            block.push_back(static_cast<std::uint8_t>(static_cast<std::uint32_t>(word) >> (8 * i)));
        }
    }

    /// The blocks of all groups, as docs/isa.md says; lanes without an output hold noise.
    Bytes blocks() {
        Bytes blocks;
        const int lanes = static_cast<int>(grid_.lanes);
        const int block_lanes = outputs_ < lanes ? (outputs_ + 15) / 16 * 16 : lanes;
        units_ = static_cast<std::uint8_t>(block_lanes / 16);
        for (int first = 0; first < outputs_; first += lanes) {
            ++groups_;
            const auto row_of_words = [&](auto word) {
                for (int lane = 0; lane < block_lanes; ++lane) {
                    const int n = first + lane;
                    append_word(blocks, n < outputs_ ? word(static_cast<std::size_t>(n)) : from(-99, 99));
                }
                ++rows_;
            };
            rows_ = 0;
            row_of_words([&](std::size_t n) { return biases_[n]; });
            if (multiply_.by_channel) {
                row_of_words([&](std::size_t n) { return multipliers_[n].first; });
                if (multiply_.scaling != isa::Scaling::Float) {
                    row_of_words([&](std::size_t n) { return multipliers_[n].second; });
                }
            }
            for (int weight = 0; weight < weights_per_output_; weight += 4) {
                row_of_words([&](std::size_t n) {
                    std::uint32_t word = 0;
                    for (int q = 0; q < 4; ++q) {
                        const std::size_t at = n * static_cast<std::size_t>(weights_per_output_) +
                                               static_cast<std::size_t>(weight + q);
                        const std::uint8_t stored = weight + q < weights_per_output_ ? weights_[at] : byte();
                        word |= std::uint32_t{stored} << (8 * q);
                    }
                    return static_cast<std::int32_t>(word);
                });
            }
        }
        return blocks;
    }

    void set_source(int lines, int columns, int channels, int pixel_bytes) {
        set(Register::SourceLines, lines);
        set(Register::SourceColumns, columns);
        set(Register::SourceChannels, channels);
        set(Register::SourcePixelBytes, pixel_bytes);
    }
    void set_result(int lines, int columns, int channels, int pixel_bytes) {
        set(Register::ResultLines, lines);
        set(Register::ResultColumns, columns);
        set(Register::ResultChannels, channels);
        set(Register::ResultPixelBytes, pixel_bytes);
    }
    void set_margins_of_result(int top, int bottom, int left, int right) {
        set(Register::ResultTop, top);
        set(Register::ResultBottom, bottom);
        set(Register::ResultLeft, left);
        set(Register::ResultRight, right);
    }
    void set_margins_of_source(int top, int bottom, int left, int right) {
        set(Register::SourceTop, top);
        set(Register::SourceBottom, bottom);
        set(Register::SourceLeft, left);
        set(Register::SourceRight, right);
    }

    void make_program() {
        constexpr std::uint64_t blocks_address = 0x10000;
        constexpr std::uint64_t output_address = 0x80000;
        const Bytes parameters = blocks();
        const int results = lines_.outputs * columns_.outputs * outputs_;
        grid_.units = static_cast<std::uint32_t>(parameters.size() / isa::tile_unit_bytes);
        program_.geometry.tiles = grid_;
        program_.buffers = {
            {.name = "in", .kind = isa::BufferKind::Constant, .bytes = image_.size(), .contents = image_},
            {.name = "blocks",
             .kind = isa::BufferKind::Constant,
             .address = blocks_address,
             .bytes = parameters.size(),
             .contents = parameters},
            {.name = "out",
             .kind = isa::BufferKind::Output,
             .address = output_address,
             .bytes = static_cast<std::uint64_t>(results),
             .contents = {}}};

        // The source begins at a small address, the result lies at the middle of narrow memory.
        const auto source = static_cast<std::uint32_t>(from(0, 9));
        const std::uint32_t result = 1U << 16U;
        const int source_pixel = channels_ + from(0, 2);
        const int result_pixel = outputs_ + from(0, 2);
        set_result(lines_.inputs, columns_.inputs, channels_, source_pixel);
        set_margins_of_result(lines_.before, lines_.after, columns_.before, columns_.after);
        program_.instructions.emplace_back(isa::ReadTensor{.host_address = 0, .address = source});
        set_source(lines_.inputs, columns_.inputs, channels_, source_pixel);
        set_margins_of_source(lines_.before, lines_.after, columns_.before, columns_.after);
        set(Register::WindowPadValue, pad_);
        program_.instructions.emplace_back(isa::Exchange{.address = source});

        const int own =
            ((lines_.outputs - 1) / lines_.tiles + 1) * ((columns_.outputs - 1) / columns_.tiles + 1);
        const auto repeats =
            static_cast<std::uint32_t>((static_cast<std::uint64_t>(own) + positions_ - 1) / positions_);
        multiply_.source = source;
        multiply_.result = result;
        if (multiply_.streamed) {
            multiply_.parameters = blocks_address;
            program_.instructions.emplace_back(isa::StreamParameters{.host_address = blocks_address,
                                                                     .rows = rows_,
                                                                     .units = units_,
                                                                     .groups = groups_,
                                                                     .repeats = repeats});
        } else {
            // Through several tiles, unless there is one.
            multiply_.parameters = grid_.tiles() == 1 ? 0 : grid_.units - 1;
            program_.instructions.emplace_back(
                isa::ReadParameters{.host_address = blocks_address,
                                    .unit = static_cast<std::uint32_t>(multiply_.parameters),
                                    .units = grid_.units});
        }
        program_.instructions.emplace_back(isa::Multicast{.parameters = multiply_.parameters,
                                                          .rows = rows_,
                                                          .units = units_,
                                                          .groups = groups_,
                                                          .repeats = repeats,
                                                          .streamed = multiply_.streamed});

        set_result(lines_.outputs, columns_.outputs, outputs_, result_pixel);
        set_margins_of_result(from(0, 1), from(0, 1), 1, from(0, 1));
        for (const auto& [reg, value] :
             {std::pair{Register::WindowKernelHeight, lines_.kernel},
              {Register::WindowKernelWidth, columns_.kernel},
              {Register::WindowStrideY, lines_.stride},
              {Register::WindowStrideX, columns_.stride},
              {Register::WindowDilationY, lines_.dilation},
              {Register::WindowDilationX, columns_.dilation},
              {Register::WindowPadTop, lines_.pad},
              {Register::WindowPadLeft, columns_.pad},
              {Register::SourceZeroPoint, source_zero_},
              {Register::MultiplyWeightZeroPoint, weight_zero_},
              {Register::OutputZeroPoint, output_zero_},
              {Register::OutputMinimum, minimum_},
              {Register::OutputMaximum, maximum_},
              // With by_channel, these have no meaning.
              {Register::VectorMultiplier, multiply_.by_channel ? 77 : multipliers_[0].first},
              {Register::VectorShift, multiply_.by_channel ? 5 : multipliers_[0].second}}) {
            set(reg, value);
        }
        program_.instructions.emplace_back(multiply_);

        // The result is the source of the transfer.
        set_source(lines_.outputs, columns_.outputs, outputs_, result_pixel);
        const isa::Registers last = registers();
        for (const auto& [to, from] : {std::pair{Register::SourceTop, Register::ResultTop},
                                       {Register::SourceBottom, Register::ResultBottom},
                                       {Register::SourceLeft, Register::ResultLeft},
                                       {Register::SourceRight, Register::ResultRight}}) {
            set(to, last[from]);
        }
        program_.instructions.emplace_back(
            isa::WriteTensor{.host_address = output_address, .address = result});
        program_.instructions.emplace_back(isa::Halt{});
    }

    /// What the instructions so far have set.
    isa::Registers registers() const {
        isa::Registers registers;
        for (const isa::Instruction& instruction : program_.instructions) {
            if (const auto* each = std::get_if<isa::SetConfig>(&instruction)) {
                registers.set(each->reg, each->value);
            }
        }
        return registers;
    }

    std::mt19937 engine_;
    isa::TileGrid grid_;
    Axis lines_;
    Axis columns_;
    int channels_ = 0;
    int outputs_ = 0;
    int weights_per_output_ = 0;
    isa::TileMultiply multiply_;
    Bytes image_;
    Bytes weights_;
    std::vector<std::int32_t> biases_;
    std::vector<std::pair<std::int32_t, std::int32_t>> multipliers_;
    int source_zero_ = 0;
    int weight_zero_ = 0;
    int output_zero_ = 0;
    int minimum_ = 0;
    int maximum_ = 0;
    std::uint8_t pad_ = 0;
    std::uint64_t positions_ = 0;
    std::uint32_t rows_ = 0;
    std::uint8_t units_ = 0;
    std::uint16_t groups_ = 0;
    isa::Program program_;
};

}  // namespace

TEST_CASE("A product of tiles is that of the whole image") {
    for (unsigned seed = 1; seed <= tests::random_runs(300); ++seed) {
        CAPTURE(seed);
        const RandomProduct product(seed);
        TileRun run = product.run();
        run.executor.run();
        REQUIRE(run.host(2) == product.expected());
    }
}
