#include "compiler/emit/emitter.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "compiler/emit/narrow.h"

namespace systole::emit {

using isa::Register;

namespace {

/// The window of a layer that has one.
const graph::Window& window_of(const quantized::Layer& layer) {
    if (const auto* c = std::get_if<quantized::Convolution>(&layer.operation)) return c->window;
    if (const auto* c = std::get_if<quantized::DepthwiseConvolution>(&layer.operation)) return c->window;
    if (const auto* pool = std::get_if<quantized::Pool>(&layer.operation)) return pool->window;
    throw std::logic_error("layer \"" + layer.name + "\" has no windows");
}

}  // namespace

Emitter::Emitter(const quantized::Network& network, const schedule::Schedule& schedule,
                 const HostMemory& memory)
    : network_(network), schedule_(schedule), memory_(memory) {}

std::vector<isa::Instruction> Emitter::emit() {
    for (const schedule::Operation& operation : schedule_.operations) std::visit(*this, operation);
    stream_.append(isa::InterruptHost{});
    stream_.append(isa::Halt{});
    return stream_.take();
}

const quantized::Layer& Emitter::begin_layer(std::uint32_t layer) {
    stream_.tag(narrow<std::uint16_t>(layer + 1));
    return network_.layers[layer];
}

std::uint32_t Emitter::row_of(quantized::TensorId tensor, std::uint32_t image) const {
    const schedule::TensorPlacement& place = schedule_.memory.tensors[tensor];
    return place.row + image * place.image_rows;
}

template <typename Transfer>
void Emitter::transfer(quantized::TensorId tensor_id, std::uint64_t host_address, std::uint32_t images) {
    constexpr std::uint32_t most_blocks = std::numeric_limits<std::uint16_t>::max();
    const std::uint64_t image_bytes = tensor(tensor_id).shape.elements();
    stream_.tag(0);
    for (const schedule::Piece& piece : schedule::cut_evenly(images, most_blocks)) {
        stream_.append(Transfer{.host_address = host_address + piece.first * image_bytes,
                                .unified_buffer_row = row_of(tensor_id, piece.first),
                                .block_bytes = narrow<std::uint32_t>(image_bytes),
                                .blocks = narrow<std::uint16_t>(piece.count)});
    }
}

void Emitter::operator()(const schedule::ReadInput& read) {
    const std::uint64_t offset = read.first_inference * memory_.input_bytes_per_image;
    transfer<isa::ReadHostMemory>(network_.input, memory_.input_address + offset, read.images);
}

void Emitter::operator()(const schedule::WriteOutput& write) {
    const std::uint64_t offset = write.first_inference * memory_.output_bytes_per_image;
    transfer<isa::WriteHostMemory>(network_.output, memory_.output_address + offset, write.images);
}

void Emitter::operator()(const schedule::ReadConstants&) {
    stream_.tag(0);
    stream_.append(isa::ReadHostMemory{.host_address = memory_.constants_address,
                                       .unified_buffer_row = 0,
                                       .block_bytes = narrow<std::uint32_t>(memory_.constants_bytes),
                                       .blocks = 1});
}

isa::MatrixFlags Emitter::fetch(const schedule::MatrixWork& work, const quantized::Tensor& input) {
    if (!work.keep_weights) {
        stream_.append(isa::ReadWeights{.first_tile = work.first_weight_tile,
                                        .tiles = narrow<std::uint16_t>(work.tiles)});
    }
    return {.accumulate = work.accumulate,
            .keep_weights = work.keep_weights,
            .signed_activations = input.is_signed,
            .wide_activations = false,
            .wide_weights = false};
}

void Emitter::set_window(const graph::Window& window, quantized::TensorId input, const graph::Shape& output) {
    const graph::Shape& shape = tensor(input).shape;
    stream_.set(Register::WindowInputHeight, shape.height);
    stream_.set(Register::WindowInputWidth, shape.width);
    stream_.set(Register::WindowChannels, shape.channels);
    stream_.set(Register::WindowImageRows, schedule_.memory.tensors[input].image_rows);
    stream_.set(Register::WindowKernelHeight, window.kernel_height);
    stream_.set(Register::WindowKernelWidth, window.kernel_width);
    stream_.set(Register::WindowStrideY, window.stride_y);
    stream_.set(Register::WindowStrideX, window.stride_x);
    stream_.set(Register::WindowPadTop, window.pad_top);
    stream_.set(Register::WindowPadLeft, window.pad_left);
    stream_.set(Register::WindowOutputHeight, output.height);
    stream_.set(Register::WindowOutputWidth, output.width);
    stream_.set(Register::WindowPadValue, static_cast<std::uint8_t>(tensor(input).zero_point));
}

void Emitter::operator()(const schedule::ConvolveLines& work) {
    const quantized::Layer& layer = begin_layer(work.layer);
    const quantized::TensorId input = layer.inputs[0];
    const isa::MatrixFlags flags = fetch(work, tensor(input));
    set_window(window_of(layer), input, tensor(layer.output).shape);
    stream_.set(Register::WindowTile, work.first_element_tile);
    stream_.append(isa::Convolve{.unified_buffer_row = row_of(input, work.chunk.first_image),
                                 .accumulator_row = narrow<std::uint16_t>(work.accumulator_row),
                                 .first_line = narrow<std::uint16_t>(work.chunk.first_line),
                                 .lines = narrow<std::uint16_t>(work.chunk.lines),
                                 .flags = flags,
                                 .repeat = narrow<std::uint8_t>(work.tiles - 1)});
}

void Emitter::operator()(const schedule::MultiplyImages& work) {
    const quantized::Layer& layer = begin_layer(work.layer);
    const quantized::TensorId input = layer.inputs[0];
    const isa::MatrixFlags flags = fetch(work, tensor(input));
    // Element tile t of an image is its t-th row: an image begins at a row.
    stream_.set(Register::MultiplyRowStride, schedule_.memory.tensors[input].image_rows);
    stream_.append(isa::MatrixMultiply{
        .unified_buffer_row = row_of(input, work.chunk.first_image) + work.first_element_tile,
        .accumulator_row = narrow<std::uint16_t>(work.accumulator_row),
        .length = work.chunk.lines,
        .flags = flags,
        .repeat = narrow<std::uint8_t>(work.tiles - 1)});
}

void Emitter::set_output_range(std::int32_t zero_point, std::int32_t minimum, std::int32_t maximum) {
    stream_.set_signed(Register::OutputZeroPoint, zero_point);
    stream_.set_signed(Register::OutputMinimum, minimum);
    stream_.set_signed(Register::OutputMaximum, maximum);
}

void Emitter::operator()(const schedule::ActivatePixels& work) {
    const quantized::Layer& layer = begin_layer(work.layer);
    const schedule::LayerPlan& plan = schedule_.layers[work.layer];
    const schedule::ColumnTile& column = plan.tiling.columns[work.column];
    const graph::Shape& output = tensor(layer.output).shape;
    const quantized::Requantization& rules = *schedule::requantization(layer);
    const LoadedParameters needed{.parameters_row = plan.parameter_rows[work.column],
                                  .columns = column.channels,
                                  .table_row = plan.table_row};
    stream_.set(Register::ActivationColumns, column.channels);
    stream_.set(Register::ActivationPixelBytes, output.channels);
    stream_.set(Register::ActivationChannelOffset, column.first_channel);
    stream_.set(Register::ActivationImageRows, schedule_.memory.tensors[layer.output].image_rows);
    stream_.set(Register::ActivationOutputsPerImage, output.height * output.width);
    stream_.set(Register::ActivationParametersRow, needed.parameters_row);
    if (needed.table_row) stream_.set(Register::ActivationTableRow, *needed.table_row);
    set_output_range(rules.zero_point, rules.minimum, rules.maximum);
    stream_.append(isa::Activate{
        .accumulator_row = narrow<std::uint16_t>(work.accumulator_row),
        .unified_buffer_row = row_of(layer.output, work.first_image),
        .length = narrow<std::uint16_t>(work.pixels),
        .first_output = work.first_pixel,
        .function = needed.table_row ? isa::ActivationFunction::Lookup : isa::ActivationFunction::Identity,
        .load_parameters = loaded_ != needed,
        .wide_output = false});
    loaded_ = needed;
}

void Emitter::append_vector(const isa::Vector& vector) {
    stream_.append(vector);
    // Vector work has the unit to itself; what it leaves of the parameters is not said anywhere.
    loaded_.reset();
}

void Emitter::operator()(const schedule::PoolLines& work) {
    const quantized::Layer& layer = begin_layer(work.layer);
    const auto& pool = std::get<quantized::Pool>(layer.operation);
    const quantized::TensorId input = layer.inputs[0];
    set_window(pool.window, input, tensor(layer.output).shape);
    stream_.set(Register::ActivationImageRows, schedule_.memory.tensors[layer.output].image_rows);
    append_vector({.operation = pool.kind == quantized::PoolKind::Max ? isa::VectorOperation::MaxPool
                                                                      : isa::VectorOperation::AveragePool,
                   .destination_row = row_of(layer.output, work.chunk.first_image),
                   .source_row = row_of(input, work.chunk.first_image),
                   .other_row = 0,
                   .length = work.chunk.lines,
                   .first_line = work.chunk.first_line,
                   .signed_elements = tensor(input).is_signed,
                   .count_padding = pool.count_padding});
}

void Emitter::operator()(const schedule::ElementwiseRows& work) {
    const quantized::Layer& layer = begin_layer(work.layer);
    if (const auto* add = std::get_if<quantized::Add>(&layer.operation)) {
        add_rows(*add, layer, work.rows);
    } else {
        look_up_rows(schedule_.layers[work.layer], layer, work.rows);
    }
}

void Emitter::add_rows(const quantized::Add& add, const quantized::Layer& layer,
                       const schedule::Piece& rows) {
    const quantized::Tensor& output = tensor(layer.output);
    stream_.set_signed(Register::VectorZeroPointA, tensor(layer.inputs[0]).zero_point);
    stream_.set_signed(Register::VectorZeroPointB, tensor(layer.inputs[1]).zero_point);
    stream_.set_signed(Register::VectorMultiplierA, add.multiplier_a);
    stream_.set_signed(Register::VectorMultiplierB, add.multiplier_b);
    stream_.set_signed(Register::VectorShiftA, add.shift_a);
    stream_.set_signed(Register::VectorShiftB, add.shift_b);
    stream_.set_signed(Register::VectorMultiplier, add.multiplier);
    stream_.set_signed(Register::VectorShift, add.shift);
    set_output_range(output.zero_point, add.minimum, add.maximum);
    append_vector({.operation = isa::VectorOperation::Add,
                   .destination_row = row_of(layer.output, 0) + rows.first,
                   .source_row = row_of(layer.inputs[0], 0) + rows.first,
                   .other_row = row_of(layer.inputs[1], 0) + rows.first,
                   .length = rows.count,
                   .first_line = 0,
                   .signed_elements = output.is_signed,
                   .count_padding = false});
}

void Emitter::look_up_rows(const schedule::LayerPlan& plan, const quantized::Layer& layer,
                           const schedule::Piece& rows) {
    stream_.set(Register::ActivationTableRow, plan.table_row.value());
    append_vector({.operation = isa::VectorOperation::Lookup,
                   .destination_row = row_of(layer.output, 0) + rows.first,
                   .source_row = row_of(layer.inputs[0], 0) + rows.first,
                   .other_row = 0,
                   .length = rows.count,
                   .first_line = 0,
                   .signed_elements = tensor(layer.output).is_signed,
                   .count_padding = false});
}

}  // namespace systole::emit
