#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "base/fixed_point.h"
#include "hw/isa/footprint.h"
#include "hw/isa/interpolation.h"
#include "hw/isa/program_error.h"
#include "hw/isa/tile_layout.h"
#include "hw/isa/weight_blocks.h"
#include "hw/timing/tiles.h"
#include "tests/support/random_tiles/random_tiles.h"

namespace systole::tests {
namespace {

using isa::Register;

constexpr std::uint64_t input_address = 0;
constexpr std::uint64_t constant_address = std::uint64_t{1} << 24;
constexpr std::uint64_t output_address = std::uint64_t{1} << 32;

machine::MachineConfig random_machine(Choices& choices) {
    machine::MachineConfig machine;
    machine.name = "random";
    machine.family = machine::Family::EdgeTpu;
    machine::TileArrayConfig& array = machine.tile_array;
    array.lines = choices.number<std::uint32_t>(1, 4);
    array.columns = choices.number<std::uint32_t>(1, 4);
    array.lanes = choices.chance(60) ? 16 : 32;
    array.pixels = choices.number<std::uint32_t>(1, 9);
    array.weight_buffers = choices.number<std::uint32_t>(1, 3);
    array.weight_buffer_rows = choices.number<std::uint32_t>(4, 12);
    array.depthwise_macs_per_cycle = choices.number<std::uint32_t>(1, 8);
    array.vector_bytes_per_cycle = choices.number<std::uint32_t>(1, 8);
    array.pooling_bytes_per_cycle = choices.number<std::uint32_t>(1, 8);
    array.result_cycles = choices.number<std::uint32_t>(0, 5);
    machine.narrow_memory.bytes = choices.number<std::uint32_t>(6000, 16000);
    machine.wide_memory.bytes = 64 * choices.number<std::uint32_t>(300, 700);
    machine.ring.bytes_per_cycle = choices.chance(50) ? 9.3 : choices.number<std::uint32_t>(1, 200) / 4.0;
    machine.ring.latency_cycles = choices.number<std::uint32_t>(0, 4);
    machine.mesh.bytes_per_cycle = choices.number<std::uint32_t>(1, 40) / 4.0;
    machine.mesh.latency_cycles = choices.number<std::uint32_t>(0, 4);
    machine.staging_buffer.bytes =
        std::uint64_t{array.weight_buffer_rows} * array.lanes * 4 * choices.from(1, 3);
    machine.clock_mhz = 500;
    machine.host_interface.read_gb_per_s = choices.number<std::uint32_t>(5, 200) / 10.0;
    machine.host_interface.write_gb_per_s = choices.number<std::uint32_t>(5, 200) / 10.0;
    machine.host_interface.latency_cycles = choices.number<std::uint32_t>(0, 20);
    machine.sequencer.queue_depth = choices.number<std::uint32_t>(24, 40);
    machine.sequencer.issue_cycles = choices.number<std::uint32_t>(0, 2);
    return machine;
}

/// An image or a vector in narrow memory.
struct Tensor {
    enum class Kind : std::uint8_t { Image, Vector, OverLanes };

    Kind kind = Kind::Image;
    std::uint32_t address = 0;
    std::uint32_t lines = 1;
    std::uint32_t columns = 1;
    std::uint32_t channels = 1;
    std::uint32_t pixel_bytes = 1;
    std::int32_t top = 0;
    std::int32_t bottom = 0;
    std::int32_t left = 0;
    std::int32_t right = 0;

    /// Whether tiles keep their whole patches, and not strips of them.
    bool is_whole() const { return std::min({top, bottom, left, right}) >= 0; }
};

class Draft {
public:
    explicit Draft(Choices& choices) : choices_(choices) {
        case_.machine = random_machine(choices);
        grid_ = timing::grid_of(case_.machine);
        case_.program.geometry.tiles = grid_;
    }

    TileCase take() {
        read_tensor();
        for (std::uint64_t left = choices_.from(1, 7); left > 0; --left) {
            if (choices_.chance(20)) {
                add(isa::DebugTag{choices_.number<std::uint16_t>(0, 3)});
            }
            step();
        }
        write(choices_.one_of(tensors_));
        write(tensors_.back());
        if (output_bytes_ == 0) {  // strips cannot be written
            read_tensor();
            write(tensors_.back());
        }
        if (choices_.chance(20)) add(isa::InterruptHost{});
        add(isa::Halt{});
        declare_buffers();
        case_.program = ordered(case_.program);
        return std::move(case_);
    }

private:
    void add(isa::Instruction instruction) { case_.program.instructions.push_back(std::move(instruction)); }

    void set(Register reg, std::uint32_t value) {
        if (registers_[reg] == value && choices_.chance(90)) return;
        registers_.set(reg, value);
        add(isa::SetConfig{.reg = reg, .value = value});
    }

    void set_layout(const isa::LayoutRegisters& names, const Tensor& tensor) {
        set(names.lines, tensor.lines);
        set(names.columns, tensor.columns);
        set(names.channels, tensor.channels);
        set(names.pixel_bytes, tensor.pixel_bytes);
        set(names.top, static_cast<std::uint32_t>(tensor.top));
        set(names.bottom, static_cast<std::uint32_t>(tensor.bottom));
        set(names.left, static_cast<std::uint32_t>(tensor.left));
        set(names.right, static_cast<std::uint32_t>(tensor.right));
    }

    void set_other(const Tensor& tensor) {
        set(Register::OtherPixelBytes, tensor.pixel_bytes);
        set(Register::OtherTop, static_cast<std::uint32_t>(tensor.top));
        set(Register::OtherBottom, static_cast<std::uint32_t>(tensor.bottom));
        set(Register::OtherLeft, static_cast<std::uint32_t>(tensor.left));
        set(Register::OtherRight, static_cast<std::uint32_t>(tensor.right));
    }

    std::uint64_t bytes_of(const Tensor& tensor) const {
        if (tensor.kind == Tensor::Kind::Vector) return tensor.channels;
        if (tensor.kind == Tensor::Kind::OverLanes) {
            return isa::LaneVector{.grid = grid_, .address = 0, .elements = tensor.channels}.passes() *
                   grid_.lanes;
        }
        const isa::TileLayout layout = layout_of(tensor);
        return layout.stored_lines() * layout.line_bytes();
    }

    /// Gives the tensor an address. After the last byte, addresses begin again: what lies there is lost.
    bool place(Tensor& tensor) {
        const std::uint64_t bytes = bytes_of(tensor);
        if (bytes > case_.machine.narrow_memory.bytes / 3) return false;
        if (next_ + bytes > case_.machine.narrow_memory.bytes) {
            next_ = 0;
        }
        tensor.address = static_cast<std::uint32_t>(next_);
        next_ += bytes;
        forget_what_lies_at(tensor);
        return true;
    }

    void forget_what_lies_at(const Tensor& tensor) {
        const std::uint64_t bytes = bytes_of(tensor);
        std::erase_if(tensors_, [&](const Tensor& each) {
            return each.address < tensor.address + bytes && tensor.address < each.address + bytes_of(each);
        });
    }

    void draw_margins(Tensor& tensor) {
        if (choices_.chance(30)) return;
        tensor.top = choices_.number<std::int32_t>(0, 5);
        tensor.bottom = choices_.number<std::int32_t>(0, 5);
        tensor.left = choices_.number<std::int32_t>(0, 5);
        tensor.right = choices_.number<std::int32_t>(0, 5);
    }

    /// Perhaps leaves out some of each patch, once the tensor has its lines and columns.
    void draw_strip(Tensor& tensor) {
        if (choices_.chance(70)) return;
        const isa::TileLayout layout = layout_of(tensor);
        const auto leave_out = [&](std::uint64_t own, std::int32_t& before, std::int32_t& behind) {
            const std::uint64_t first = choices_.from(0, own - 1);
            const std::uint64_t last = choices_.from(first, own - 1);
            if (choices_.chance(60)) before = -static_cast<std::int32_t>(first);
            if (choices_.chance(60)) behind = -static_cast<std::int32_t>(own - 1 - last);
        };
        leave_out(layout.own_lines(), tensor.top, tensor.bottom);
        leave_out(layout.own_columns(), tensor.left, tensor.right);
    }

    void draw_pixel(Tensor& tensor) {
        tensor.pixel_bytes =
            tensor.channels + (choices_.chance(30) ? choices_.number<std::uint32_t>(1, 4) : 0);
    }

    void read_tensor() {
        Tensor tensor;
        do {
            tensor.lines = choices_.number<std::uint32_t>(1, 9);
            tensor.columns = choices_.number<std::uint32_t>(1, 9);
            tensor.channels = choices_.number<std::uint32_t>(1, choices_.chance(50) ? 4 : 40);
            draw_pixel(tensor);
            draw_margins(tensor);
        } while (!place(tensor));
        set_layout(isa::result_registers, tensor);
        add(isa::ReadTensor{.host_address = input_address + input_bytes_, .address = tensor.address});
        input_bytes_ += std::uint64_t{tensor.lines} * tensor.columns * tensor.channels;
        tensors_.push_back(tensor);
    }

    void write(const Tensor& tensor) {
        if (!tensor.is_whole()) return;
        const bool over_lanes = tensor.kind == Tensor::Kind::OverLanes;
        Tensor shown = tensor;
        if (tensor.kind == Tensor::Kind::Vector) {  // every tile has it: as an image of one pixel
            shown.lines = shown.columns = 1;
            shown.pixel_bytes = tensor.channels;
        }
        set_layout(isa::source_registers, shown);
        add(isa::WriteTensor{.host_address = output_address + output_bytes_,
                             .address = tensor.address,
                             .over_lanes = over_lanes});
        output_bytes_ += std::uint64_t{shown.lines} * shown.columns * shown.channels;
    }

    void step() {
        const Tensor& source = choices_.one_of(tensors_);
        const auto kind = choices_.from(0, 99);
        if (source.kind == Tensor::Kind::OverLanes) {
            kind < 50 ? write(source) : collect(source);
        } else if (source.kind == Tensor::Kind::Vector) {
            dense(source);
        } else if (kind < 10) {
            read_tensor();
        } else if (kind < 20) {
            write(source);
        } else if (kind < 35) {
            collect(source);
        } else if (kind < 65) {
            window_product(source, isa::TileProduct::Convolve);
        } else if (kind < 75) {
            window_product(source, isa::TileProduct::Depthwise);
        } else if (kind < 86) {
            choices_.chance(50) ? move(source) : permute(source);
        } else {
            vector(source);
        }
    }

    void collect(Tensor source) {
        if (!source.is_whole()) return;
        Tensor result;
        result.kind = Tensor::Kind::Vector;
        result.channels = source.lines * source.columns * source.channels;
        if (!place(result)) return;
        if (!is_there(source, result)) return;
        set_layout(isa::source_registers, source);
        add(isa::Collect{.destination = result.address,
                         .source = source.address,
                         .over_lanes = source.kind == Tensor::Kind::OverLanes});
        tensors_.push_back(result);
    }

    /// Whether placing the result has left the source where it is.
    bool is_there(const Tensor& source, const Tensor& result) const {
        return source.address + bytes_of(source) <= result.address ||
               result.address + bytes_of(result) <= source.address;
    }

    /// Windows of the source for a result, which gets its lines and columns. The source's margins must do.
    bool draw_window(const Tensor& source, Tensor& result, bool for_pooling, bool with_margins) {
        for (int tries = 0; tries < 12; ++tries) {
            const bool simple = tries == 11;
            const auto draw = [&](std::uint32_t most) {
                return simple ? 1U : choices_.number<std::uint32_t>(1, most);
            };
            struct Side {
                std::uint32_t kernel = 1, stride = 1, dilation = 1, pad = 0, outputs = 1;
            };
            const auto draw_side = [&](std::uint32_t extent) {
                Side side;
                side.kernel = draw(3);
                side.stride = draw(2);
                side.dilation = for_pooling ? 1 : draw(2);
                const std::uint32_t reach = (side.kernel - 1) * side.dilation;
                side.pad = choices_.number<std::uint32_t>(0, reach);
                const std::uint32_t behind = choices_.number<std::uint32_t>(0, reach);
                if (extent + side.pad + behind <= reach) return side;
                side.outputs = (extent + side.pad + behind - reach - 1) / side.stride + 1;
                return side;
            };
            const Side y = draw_side(source.lines);
            const Side x = draw_side(source.columns);
            result.lines = y.outputs;
            result.columns = x.outputs;
            const isa::TileWindow window{.kernel_height = y.kernel,
                                         .kernel_width = x.kernel,
                                         .stride_y = y.stride,
                                         .stride_x = x.stride,
                                         .dilation_y = y.dilation,
                                         .dilation_x = x.dilation,
                                         .pad_top = y.pad,
                                         .pad_left = x.pad};
            const Tensor margins = result;
            draw_strip(result);
            try {
                const isa::TileLayout computed = layout_of(result);
                isa::check_windows_are_stored(layout_of(source), computed,
                                              timing::area_of(computed, with_margins), window);
            } catch (const isa::ProgramError&) {
                result = margins;
                continue;
            }
            const auto reaches = [](std::uint32_t extent, const Side& side) {
                return (side.outputs - 1) * side.stride < extent + side.pad;
            };
            if (for_pooling && (!reaches(source.lines, y) || !reaches(source.columns, x))) {
                result = margins;
                continue;
            }
            window_ = window;
            return true;
        }
        return false;
    }

    void set_window() {
        const auto word = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
        set(Register::WindowKernelHeight, word(window_.kernel_height));
        set(Register::WindowKernelWidth, word(window_.kernel_width));
        set(Register::WindowStrideY, word(window_.stride_y));
        set(Register::WindowStrideX, word(window_.stride_x));
        set(Register::WindowDilationY, word(window_.dilation_y));
        set(Register::WindowDilationX, word(window_.dilation_x));
        set(Register::WindowPadTop, word(window_.pad_top));
        set(Register::WindowPadLeft, word(window_.pad_left));
    }

    isa::TileLayout layout_of(const Tensor& tensor) const {
        return {.grid = grid_,
                .address = tensor.address,
                .lines = tensor.lines,
                .columns = tensor.columns,
                .channels = tensor.channels,
                .pixel_bytes = tensor.pixel_bytes,
                .top = tensor.top,
                .bottom = tensor.bottom,
                .left = tensor.left,
                .right = tensor.right};
    }

    std::uint32_t byte_number(bool is_signed) {
        return is_signed ? static_cast<std::uint32_t>(static_cast<std::int32_t>(choices_.from(0, 255)) - 128)
                         : choices_.number<std::uint32_t>(0, 255);
    }

    void set_results(bool is_signed) {
        set(Register::OutputZeroPoint, byte_number(is_signed));
        const bool whole = choices_.chance(70);
        const auto lowest = is_signed ? static_cast<std::uint32_t>(-128) : 0U;
        const auto highest = is_signed ? 127U : 255U;
        auto least = static_cast<std::int32_t>(whole ? lowest : byte_number(is_signed));
        auto most = static_cast<std::int32_t>(whole ? highest : byte_number(is_signed));
        if (least > most) std::swap(least, most);
        set(Register::OutputMinimum, static_cast<std::uint32_t>(least));
        set(Register::OutputMaximum, static_cast<std::uint32_t>(most));
    }

    /// A multiplier of sums of some thousands, as it lies in registers and blocks; sometimes any bits, or
    /// those of an infinity or a NaN.
    std::array<std::uint32_t, 2> multiplier(isa::Scaling scaling) {
        if (choices_.chance(10)) {
            constexpr std::array<std::uint32_t, 4> infinities_and_nans{0x7f800000, 0xff800000, 0x7fc00000,
                                                                       0xffc00001};
            if (scaling == isa::Scaling::Float && choices_.chance(50)) {
                return {choices_.one_of(infinities_and_nans), 0};
            }
            return {choices_.number<std::uint32_t>(0, UINT32_MAX),
                    choices_.number<std::uint32_t>(0, UINT32_MAX)};
        }
        const double real = std::ldexp(1.0 + static_cast<double>(choices_.from(0, 1000)) / 1001.0,
                                       -static_cast<int>(choices_.from(1, 12)));
        switch (scaling) {
            case isa::Scaling::Float:
                return {std::bit_cast<std::uint32_t>(static_cast<float>(real)), 0};
            case isa::Scaling::Real: {
                const auto bits = std::bit_cast<std::uint64_t>(real);
                return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32U)};
            }
            case isa::Scaling::FixedPoint:
            case isa::Scaling::ToEven:
                break;
        }
        const FixedPoint fixed = to_fixed_point(real);
        return {static_cast<std::uint32_t>(fixed.multiplier), static_cast<std::uint32_t>(fixed.shift)};
    }

    void push_word(std::vector<std::uint8_t>& bytes, std::uint32_t word) {
        for (unsigned i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
    }

    std::vector<std::uint8_t> block(const isa::TileMultiply& multiply, const isa::WeightBlocks& blocks) {
        std::vector<std::uint8_t> bytes;
        for (std::uint64_t lane = 0; lane < blocks.lanes; ++lane) {
            push_word(bytes,
                      static_cast<std::uint32_t>(static_cast<std::int32_t>(choices_.from(0, 4000)) - 2000));
        }
        if (multiply.by_channel) {
            std::vector<std::array<std::uint32_t, 2>> multipliers;
            for (std::uint64_t lane = 0; lane < blocks.lanes; ++lane) {
                multipliers.push_back(multiplier(multiply.scaling));
            }
            for (const auto& each : multipliers) push_word(bytes, each[0]);
            if (multiply.scaling != isa::Scaling::Float) {
                for (const auto& each : multipliers) push_word(bytes, each[1]);
            }
        }
        while (bytes.size() < blocks.block_bytes()) {
            bytes.push_back(choices_.number<std::uint8_t>(0, 255));
        }
        return bytes;
    }

    /// Adds bytes to the constants and returns their host address.
    std::uint64_t constant(const std::vector<std::uint8_t>& bytes) {
        const std::uint64_t address = constant_address + constants_.size();
        constants_.insert(constants_.end(), bytes.begin(), bytes.end());
        return address;
    }

    isa::TileMultiply draw_product(isa::TileProduct product) {
        isa::TileMultiply multiply;
        multiply.product = product;
        multiply.scaling = static_cast<isa::Scaling>(choices_.from(0, 3));
        multiply.is_signed = choices_.chance(50);
        multiply.has_signed_weights = choices_.chance(50);
        multiply.by_channel = multiply.scaling == isa::Scaling::Real || choices_.chance(50);
        set(Register::SourceZeroPoint, byte_number(multiply.is_signed));
        set(Register::MultiplyWeightZeroPoint,
            choices_.chance(50) ? 0 : byte_number(multiply.has_signed_weights));
        if (!multiply.by_channel) {
            const auto words = multiplier(multiply.scaling);
            set(Register::VectorMultiplier, words[0]);
            set(Register::VectorShift, words[1]);
        }
        set_results(multiply.is_signed);
        return multiply;
    }

    void window_product(Tensor source, isa::TileProduct product) {
        Tensor result;
        result.channels = product == isa::TileProduct::Depthwise
                              ? source.channels * choices_.number<std::uint32_t>(1, 2)
                              : choices_.number<std::uint32_t>(1, 3 * grid_.lanes);
        draw_pixel(result);
        draw_margins(result);
        const bool with_margins = choices_.chance(30);
        if (!draw_window(source, result, false, with_margins) || !place(result) || !is_there(source, result))
            return;
        if (choices_.chance(80)) exchange(source);
        isa::TileMultiply multiply = draw_product(product);
        multiply.with_margins = with_margins;
        set_layout(isa::source_registers, source);
        set_layout(isa::result_registers, result);
        set_window();
        multiply.source = source.address;
        multiply.result = result.address;
        const isa::WeightBlocks blocks = isa::weight_blocks(multiply, registers_, grid_);
        if (blocks.block_bytes() * blocks.groups > std::uint64_t{grid_.units} * grid_.tiles() * 64) return;
        multiply.streamed = choices_.chance(30);
        std::vector<std::uint8_t> bytes;
        for (std::uint64_t group = 0; group < blocks.groups; ++group) {
            const auto each = block(multiply, blocks);
            bytes.insert(bytes.end(), each.begin(), each.end());
        }
        const std::uint64_t host = constant(bytes);
        isa::Multicast sent{
            .parameters = host,
            .rows = static_cast<std::uint32_t>(blocks.rows()),
            .units = static_cast<std::uint8_t>(blocks.row_units()),
            .groups = static_cast<std::uint16_t>(blocks.groups),
            .repeats = static_cast<std::uint32_t>((timing::area_of(layout_of(result), with_margins).pixels() +
                                                   case_.machine.tile_array.pixels - 1) /
                                                  case_.machine.tile_array.pixels),
            .streamed = multiply.streamed};
        if (multiply.streamed) {
            multiply.parameters = host;
            add(isa::StreamParameters{.host_address = host,
                                      .rows = sent.rows,
                                      .units = sent.units,
                                      .groups = sent.groups,
                                      .repeats = sent.repeats});
        } else {
            multiply.parameters = sent.parameters = load(host, bytes.size() / 64);
        }
        add(sent);
        add(multiply);
        tensors_.push_back(result);
    }

    /// Loads parameters from the host into wide memory and returns their first unit.
    std::uint64_t load(std::uint64_t host, std::uint64_t units) {
        const std::uint64_t all = std::uint64_t{grid_.units} * grid_.tiles();
        if (next_unit_ + units > all) next_unit_ = 0;
        const std::uint64_t first = next_unit_;
        next_unit_ += units;
        add(isa::ReadParameters{.host_address = host,
                                .unit = static_cast<std::uint32_t>(first),
                                .units = static_cast<std::uint32_t>(units)});
        return first;
    }

    void exchange(const Tensor& tensor) {
        if (!tensor.is_whole()) return;
        set_layout(isa::source_registers, tensor);
        set(Register::WindowPadValue, choices_.number<std::uint32_t>(0, 255));
        add(isa::Exchange{.address = tensor.address});
    }

    void dense(Tensor source) {
        Tensor result;
        result.kind = Tensor::Kind::OverLanes;
        result.channels = choices_.number<std::uint32_t>(1, 3 * grid_.lanes);
        if (!place(result) || !is_there(source, result)) return;
        isa::TileMultiply multiply = draw_product(isa::TileProduct::Dense);
        set(Register::SourceChannels, source.channels);
        set(Register::ResultChannels, result.channels);
        multiply.source = source.address;
        multiply.result = result.address;
        const isa::WeightBlocks blocks = isa::weight_blocks(multiply, registers_, grid_);
        const std::uint64_t units = isa::dense_passes(blocks, grid_) * blocks.block_units();
        if (units > grid_.units) return;
        multiply.parameters = choices_.from(0, grid_.units - units);
        std::vector<std::uint8_t> bytes(units * grid_.tiles() * isa::tile_unit_bytes);
        for (std::uint64_t group = 0; group < blocks.groups; ++group) {
            const auto each = block(multiply, blocks);
            for (std::uint64_t unit = 0; unit < blocks.block_units(); ++unit) {
                const std::uint64_t to =
                    isa::dense_unit(blocks, grid_, 0, group, unit) * isa::tile_unit_bytes;
                std::copy_n(each.begin() + static_cast<std::ptrdiff_t>(unit * isa::tile_unit_bytes),
                            isa::tile_unit_bytes, bytes.begin() + static_cast<std::ptrdiff_t>(to));
            }
        }
        add(isa::ReadParameters{.host_address = constant(bytes),
                                .unit = static_cast<std::uint32_t>(multiply.parameters * grid_.tiles()),
                                .units = static_cast<std::uint32_t>(units * grid_.tiles())});
        add(multiply);
        tensors_.push_back(result);
    }

    void vector(Tensor source) {
        isa::TileVector work;
        work.operation = static_cast<isa::TileOperation>(choices_.from(0, isa::tile_operation_count - 1));
        work.is_signed = choices_.chance(50);
        const bool interpolates = work.operation == isa::TileOperation::Interpolate;
        if (interpolates) {
            if (choices_.chance(50)) work.scaling = isa::Scaling::Float;
            const auto places = choices_.from(0, 2);
            work.half_pixel = places == 1;
            work.align_corners = places == 2;
        } else if (work.operation == isa::TileOperation::BiasedSumPool) {
            work.scaling = isa::Scaling::Float;
        } else if (work.scales() && work.operation != isa::TileOperation::SquaredDifference) {
            constexpr std::array scalings{isa::Scaling::FixedPoint, isa::Scaling::ToEven,
                                          isa::Scaling::Float};
            work.scaling = choices_.one_of(scalings);
        } else if (work.operation == isa::TileOperation::AveragePool && choices_.chance(50)) {
            work.scaling = isa::Scaling::Float;
        }
        Tensor result;
        result.lines = source.lines;
        result.columns = source.columns;
        result.channels = source.channels;
        draw_pixel(result);
        draw_margins(result);
        work.with_margins = choices_.chance(30);
        if (work.is_pooling() && !draw_window(source, result, true, work.with_margins)) return;
        if (interpolates && !draw_interpolated(source, result, work)) return;
        std::optional<Tensor> other = source;
        if (!work.is_pooling() && !interpolates) {
            draw_strip(result);
            if (work.is_element_wise() && choices_.chance(30)) result = source;  // in place
        }
        const bool in_place = work.is_element_wise() && result.address == source.address &&
                              layout_of(result) == layout_of(source);
        if (!in_place && (!place(result) || !is_there(source, result))) return;
        if (work.has_other()) {
            other = draw_alike(result, timing::area_of(layout_of(result), work.with_margins), in_place);
            if (!other) return;
            if (in_place && choices_.chance(50)) std::swap(source, *other);
        }
        if (!work.is_pooling() && !interpolates &&
            !stores(source, timing::area_of(layout_of(result), work.with_margins))) {
            return;
        }
        if (work.is_pooling() || interpolates) {
            if (choices_.chance(80)) exchange(source);
        }
        if (work.is_pooling()) set_window();
        if (work.table_units() > 0 && !load_table(work)) return;
        for (const Register reg : {Register::VectorZeroPointA, Register::VectorZeroPointB}) {
            set(reg, byte_number(work.is_signed));
        }
        const auto set_words = [&](Register first, Register second) {
            const auto words = multiplier(work.scaling);
            set(first, words[0]);
            set(second, words[1]);
        };
        set_words(Register::VectorMultiplierA, Register::VectorShiftA);
        set_words(Register::VectorMultiplierB, Register::VectorShiftB);
        set_words(Register::VectorMultiplier, Register::VectorShift);
        set_results(work.is_signed);
        set_layout(isa::source_registers, source);
        set_layout(isa::result_registers, result);
        work.source = source.address;
        work.result = result.address;
        if (work.has_other()) {
            set_other(*other);
            work.other = other->address;
        }
        add(work);
        if (in_place) forget_what_lies_at(result);
        tensors_.push_back(result);
    }

    /// Other extents for the result, of which the source's margins must have all.
    bool draw_interpolated(const Tensor& source, Tensor& result, const isa::TileVector& work) {
        for (int tries = 0; tries < 12; ++tries) {
            const Tensor margins = result;
            result.lines = choices_.number<std::uint32_t>(1, 12);
            result.columns = choices_.number<std::uint32_t>(1, 12);
            if (tries == 11) {  // the image itself
                result.lines = source.lines;
                result.columns = source.columns;
            }
            draw_strip(result);
            try {
                const isa::TileLayout computed = layout_of(result);
                isa::check_corners_are_stored(layout_of(source), computed,
                                              timing::area_of(computed, work.with_margins),
                                              isa::interpolation_of(work));
                return true;
            } catch (const isa::ProgramError&) {
                result = margins;
            }
        }
        return false;
    }

    /// Each tile gets a table of its own.
    bool load_table(isa::TileVector& work) {
        if (grid_.units < work.table_units()) return false;
        work.other = choices_.number<std::uint32_t>(0, grid_.units - work.table_units());
        const std::uint32_t units = work.table_units() * grid_.tiles();
        std::vector<std::uint8_t> bytes;
        while (bytes.size() < std::size_t{units} * isa::tile_unit_bytes) {
            bytes.push_back(choices_.number<std::uint8_t>(0, 255));
            // Exponentials are positive, and become small.
            const bool is_last_of_word = bytes.size() % isa::tile_word == 0;
            if (work.operation == isa::TileOperation::Softmax && is_last_of_word && choices_.chance(90)) {
                bytes.back() = choices_.chance(70) ? 0 : bytes.back() & 0x7fU;
            }
        }
        add(isa::ReadParameters{
            .host_address = constant(bytes), .unit = work.other * grid_.tiles(), .units = units});
        return true;
    }

    void move(Tensor source) {
        Tensor result;
        result.lines = choices_.number<std::uint32_t>(1, 12);
        result.columns = choices_.number<std::uint32_t>(1, 12);
        result.channels = source.channels;
        draw_pixel(result);
        draw_margins(result);
        if (!source.is_whole()) return;
        isa::Move work;
        work.keeps = choices_.chance(40);
        work.repeats = choices_.chance(40);
        if (!place(result) || !is_there(source, result)) return;
        set_layout(isa::source_registers, source);
        set_layout(isa::result_registers, result);
        for (const Register reg : {Register::WindowStrideY, Register::WindowStrideX,
                                   Register::WindowDilationY, Register::WindowDilationX}) {
            set(reg, choices_.chance(50) ? 1 : choices_.number<std::uint32_t>(1, 4));
        }
        for (const Register reg : {Register::WindowPadTop, Register::WindowPadLeft}) {
            set(reg, static_cast<std::uint32_t>(choices_.number<std::int32_t>(0, 8) - 3));
        }
        set(Register::WindowPadValue, choices_.number<std::uint32_t>(0, 255));
        work.source = source.address;
        work.result = result.address;
        add(work);
        tensors_.push_back(result);
    }

    void permute(const Tensor& read) {
        const Tensor source = read;
        if (!source.is_whole()) return;
        const auto order = static_cast<isa::AxisOrder>(choices_.from(0, 5));
        const std::array<std::uint32_t, 3> extents{source.lines, source.columns, source.channels};
        const std::array<std::size_t, 3> axes = isa::source_axes(order);
        Tensor result;
        result.lines = extents.at(axes[0]);
        result.columns = extents.at(axes[1]);
        result.channels = extents.at(axes[2]);
        draw_pixel(result);
        draw_margins(result);
        if (!place(result) || !is_there(source, result)) return;
        set_layout(isa::source_registers, source);
        set_layout(isa::result_registers, result);
        add(isa::Permute{.order = order, .result = result.address, .source = source.address});
        tensors_.push_back(result);
    }

    bool stores(const Tensor& tensor, const isa::TileArea& area) const {
        const isa::TileArea stored = isa::stored_area(layout_of(tensor));
        return area.first_line >= stored.first_line && area.line(area.lines) <= stored.line(stored.lines) &&
               area.first_column >= stored.first_column &&
               area.column(area.columns) <= stored.column(stored.columns);
    }

    /// A second operand, if there is one of this image that has the pixels. What is replaced in place may be
    /// both operands.
    std::optional<Tensor> draw_alike(const Tensor& image, const isa::TileArea& area, bool in_place) {
        std::vector<Tensor> alike;
        for (const Tensor& each : tensors_) {
            if (each.kind == Tensor::Kind::Image && each.lines == image.lines &&
                each.columns == image.columns && each.channels == image.channels && stores(each, area) &&
                (in_place || is_there(each, image))) {
                alike.push_back(each);
            }
        }
        if (alike.empty()) return std::nullopt;
        return choices_.one_of(alike);
    }

    void declare_buffers() {
        std::vector<isa::HostBuffer>& buffers = case_.program.buffers;
        buffers.push_back({.name = "in",
                           .kind = isa::BufferKind::Constant,
                           .address = input_address,
                           .bytes = input_bytes_});
        for (std::uint64_t i = 0; i < input_bytes_; ++i) {
            buffers.back().contents.push_back(choices_.number<std::uint8_t>(0, 255));
        }
        if (!constants_.empty()) {
            buffers.push_back({.name = "parameters",
                               .kind = isa::BufferKind::Constant,
                               .address = constant_address,
                               .bytes = constants_.size(),
                               .contents = constants_});
        }
        buffers.push_back({.name = "out",
                           .kind = isa::BufferKind::Output,
                           .address = output_address,
                           .bytes = output_bytes_});
    }

    Choices& choices_;
    TileCase case_;
    isa::TileGrid grid_;
    isa::Registers registers_;
    std::vector<Tensor> tensors_;
    isa::TileWindow window_;
    std::uint64_t next_ = 0;
    std::uint64_t next_unit_ = 0;
    std::uint64_t input_bytes_ = 0;
    std::uint64_t output_bytes_ = 0;
    std::vector<std::uint8_t> constants_;
};

}  // namespace

TileCase random_tiles(Choices& choices) {
    return Draft(choices).take();
}

}  // namespace systole::tests
