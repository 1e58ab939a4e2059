#include "compiler/target/tpu_v1/emit/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <limits>
#include <stdexcept>

#include "base/arithmetic.h"
#include "compiler/target/tpu_v1/network/array_weights.h"
#include "compiler/target/tpu_v1/schedule/layer_lowering.h"

namespace systole::tpu_v1 {

using isa::Register;

namespace {

/// The format in which the activation unit writes a type: int8 and uint8 are stored alike.
DataType stored_as(DataType type) {
    return bytes_of(type) == 1 ? DataType::Uint8 : type;
}

/// The largest bit pattern of an element.
std::uint16_t largest_of(DataType type) {
    return bytes_of(type) == 2 ? std::numeric_limits<std::uint16_t>::max()
                               : std::numeric_limits<std::uint8_t>::max();
}

/// The value as a field of an instruction. Throws std::logic_error if it does not fit in the field.
template <std::unsigned_integral Field>
Field narrow(std::unsigned_integral auto value) {
    if (value > std::numeric_limits<Field>::max()) {
        throw std::logic_error(
            fmt::format("{} does not fit an instruction's field of {} bytes", value, sizeof(Field)));
    }
    return static_cast<Field>(value);
}

}  // namespace

Emitter::Emitter(const Network& network, const Schedule& schedule, const HostMemory& memory)
    : network_(network), schedule_(schedule), memory_(memory) {
    std::uint16_t segments = 0;
    for (const Layer& layer : network.layers) {
        segments_.push_back(segments);
        if (runs_on_host(layer)) ++segments;
    }
    const std::vector<LayerPlan>& layers = schedule.layers;
    std::vector<std::uint32_t> reported(layers.size());
    std::uint32_t last_tag = 0;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        if (is_reported(layers[l], l)) reported[l] = ++last_tag;
    }
    for (std::uint32_t l = 0; l < layers.size(); ++l) {
        const std::uint32_t whole = layers[l].part_of.value_or(l);
        tags_.push_back(reported[layers[whole].joined_to.value_or(whole)]);
    }
}

std::vector<isa::Instruction> Emitter::emit() {
    for (const Operation& operation : schedule_.operations) std::visit(*this, operation);
    stream_.append(isa::InterruptHost{});
    stream_.append(isa::Halt{});
    return stream_.take();
}

const Layer& Emitter::begin_layer(std::uint32_t layer) {
    stream_.tag(narrow<std::uint16_t>(tags_[layer]));
    if (last_layer_ != layer) stream_.begin_layer();
    last_layer_ = layer;
    return network_.layers[layer];
}

std::uint32_t Emitter::row_of(TensorId tensor, std::uint32_t image, const Piece& rows) const {
    const TensorPlacement& place = schedule_.memory.tensors[tensor];
    if (place.by_columns) return place.row + rows.first * place.images + image % place.images * rows.count;
    return place.row + image % place.images * place.image_rows + rows.first;
}

template <typename Transfer>
void Emitter::transfer(TensorId moved, std::uint64_t first_byte, const HostImages& images) {
    constexpr std::uint32_t most_blocks = std::numeric_limits<std::uint16_t>::max();
    const std::uint64_t row_bytes = schedule_.target.geometry.rows;
    const std::uint64_t image_bytes = tpu_v1::image_bytes(tensor(moved));
    const std::uint64_t begin = images.rows.first * row_bytes;
    const std::uint64_t bytes =
        images.rows.count == 0 ? image_bytes : std::min(image_bytes - begin, images.rows.count * row_bytes);
    const TensorPlacement& place = schedule_.memory.tensors[moved];
    const std::uint32_t image_rows = place.by_columns ? images.rows.count : place.image_rows;
    const bool has_gaps = image_rows != divide_up(bytes, row_bytes);
    stream_.set(Register::HostBlockStride,
                bytes == images.image_bytes ? 0 : narrow<std::uint32_t>(images.image_bytes));
    stream_.set(Register::HostBlockRows, has_gaps ? image_rows : 0);
    for (const Piece& piece : cut_evenly(images.count, most_blocks)) {
        stream_.append(
            Transfer{.host_address = images.address + piece.first * images.image_bytes + first_byte + begin,
                     .unified_buffer_row = row_of(moved, images.first + piece.first, images.rows),
                     .block_bytes = narrow<std::uint32_t>(bytes),
                     .blocks = narrow<std::uint16_t>(piece.count)});
    }
}

void Emitter::operator()(const ReadInput& read) {
    const HostPart& part = schedule_.memory.inputs[read.part];
    const HostTensor& input = memory_.input(part.whole);
    const std::uint64_t image_bytes = input.bytes_per_image;
    stream_.tag(0);
    transfer<isa::ReadHostMemory>(part.tensor, part.first_byte,
                                  {.address = input.address + read.first_inference * image_bytes,
                                   .image_bytes = image_bytes,
                                   .first = read.first_image,
                                   .count = read.images});
}

void Emitter::operator()(const WriteOutput& write) {
    const HostPart& part = schedule_.memory.outputs[write.part];
    const HostTensor& output = memory_.output(part.whole);
    const std::uint64_t image_bytes = output.bytes_per_image;
    stream_.tag(0);
    transfer<isa::WriteHostMemory>(part.tensor, part.first_byte,
                                   {.address = output.address + write.first_inference * image_bytes,
                                    .image_bytes = image_bytes,
                                    .first = write.first_image,
                                    .count = write.images,
                                    .rows = write.rows});
}

template <typename Transfer>
void Emitter::exchange(const FetchTensor& work) {
    const HostTensor& place = memory_.tensors[memory_.place_of(work.host_tensor)];
    begin_layer(work.layer);
    transfer<Transfer>(work.tensor, work.first_byte,
                       {.address = place.address + work.first_inference * place.bytes_per_image,
                        .image_bytes = place.bytes_per_image,
                        .first = work.first_image,
                        .count = work.images});
}

void Emitter::operator()(const SendTensor& send) {
    exchange<isa::WriteHostMemory>(send);
}

void Emitter::operator()(const FetchTensor& fetch) {
    exchange<isa::ReadHostMemory>(fetch);
}

void Emitter::operator()(const RunSegment& run) {
    begin_layer(run.layer);
    stream_.append(isa::HostWork{.segment = segments_[run.layer],
                                 .first_inference = narrow<std::uint32_t>(run.first_inference),
                                 .images = run.images});
}

void Emitter::operator()(const ReadConstants&) {
    stream_.tag(0);
    stream_.set(Register::HostBlockStride, 0);
    stream_.set(Register::HostBlockRows, 0);
    stream_.append(isa::ReadHostMemory{.host_address = memory_.constants_address,
                                       .unified_buffer_row = 0,
                                       .block_bytes = narrow<std::uint32_t>(memory_.constants_bytes),
                                       .blocks = 1});
}

void Emitter::write_tile(const MatrixWork& work, const Layer& layer) {
    const auto& product = std::get<MatrixProduct>(layer.work);
    const MatrixProduct::Written& how = *product.written;
    const TensorId source = layer.inputs[1];
    const HeadMatrices matrices = head_matrices(tensor(source).shape, how.swapped_weights);
    const ColumnTile* column = nullptr;
    const LayerPlan& plan = schedule_.layers[work.layer];
    for (const ColumnTile& each : plan.tiling.columns) {
        if (plan.first_weight_tile + each.runs.front().first_weight_tile <= work.first_weight_tile)
            column = &each;
    }
    const std::uint64_t array_rows = schedule_.target.geometry.rows;
    const std::uint64_t first_element = std::uint64_t{work.first_element_tile} * array_rows;
    const std::uint64_t elements = std::min(array_rows, plan.tiling.elements - first_element);
    const std::uint64_t first_row = how.transposed ? column->first_channel : first_element;
    const std::uint64_t first_column = how.transposed ? first_element : column->first_channel;
    // In pixels, each of a row's columns: from one row of a matrix to the next, and to the next matrix.
    const std::uint64_t of_row = how.swapped_weights ? matrices.heads : 1;
    const std::uint64_t of_head = how.swapped_weights ? 1 : matrices.rows;
    const std::uint64_t pixel = work.chunk.first_line * of_head + first_row * of_row;
    const std::uint64_t byte = pixel * matrices.columns + first_column;
    stream_.set(Register::MultiplyWeightZeroPoint, static_cast<std::uint32_t>(product.weight_zero_point));
    stream_.append(isa::WriteWeights{
        .tile = work.first_weight_tile,
        .unified_buffer_row =
            row_of(source, work.chunk.first_image) + narrow<std::uint32_t>(byte / array_rows),
        .first_byte = narrow<std::uint16_t>(byte % array_rows),
        .stride = narrow<std::uint32_t>(of_row * matrices.columns),
        .rows = narrow<std::uint16_t>(how.transposed ? std::uint64_t{column->channels} : elements),
        .columns = narrow<std::uint16_t>(how.transposed ? elements : std::uint64_t{column->channels}),
        .blocks = 1,
        .is_signed = tensor(source).type == DataType::Int8,
        .transposed = how.transposed});
}

void Emitter::subtract_zero_point(const MatrixWork& work, const Layer& layer, isa::MatrixFlags flags) {
    const Tensor& input = tensor(layer.inputs[0]);
    if (input.zero_point == 0) return;
    const std::uint64_t array_rows = schedule_.target.geometry.rows;
    const std::uint64_t first_element = std::uint64_t{work.first_element_tile} * array_rows;
    const std::uint64_t elements = std::min(array_rows, input.shape.channels - first_element);
    const std::int32_t streamed = -input.zero_point;
    const auto& how = *std::get<MatrixProduct>(layer.work).written;
    const std::uint32_t rows = head_matrices(input.shape, how.swapped_input).rows;
    // Windows left of an image of one pixel: all their elements are the value of the padding. They are blocks
    // of two pixels, of which the second lies below the output: to that one all multiply-accumulates of the
    // tile belong, so that none counts as useful.
    for (const Register one :
         {Register::WindowInputHeight, Register::WindowInputWidth, Register::WindowImageRows,
          Register::WindowKernelHeight, Register::WindowKernelWidth, Register::WindowStrideY,
          Register::WindowStrideX, Register::WindowOutputHeight, Register::BlockWidth,
          Register::BlockOutputHeight}) {
        stream_.set(one, 1);
    }
    stream_.set(Register::WindowChannels, narrow<std::uint32_t>(elements));
    stream_.set(Register::WindowPadTop, 0);
    for (const Register width :
         {Register::WindowPadLeft, Register::WindowOutputWidth, Register::BlockOutputWidth}) {
        stream_.set(width, rows);
    }
    stream_.set(Register::BlockHeight, 2);
    stream_.set(Register::WindowTile, 0);
    stream_.set_value(Register::WindowPadValue, static_cast<std::uint8_t>(streamed));
    flags.accumulate = flags.keep_weights = true;
    flags.activations = streamed > highest_of(DataType::Int8) ? DataType::Uint8 : DataType::Int8;
    stream_.append(isa::Convolve{.unified_buffer_row = row_of(layer.inputs[0], work.chunk.first_image),
                                 .accumulator_row = narrow<std::uint16_t>(work.accumulator_row),
                                 .first_line = 0,
                                 .lines = 1,
                                 .flags = flags});
}

isa::MatrixFlags Emitter::fetch(const MatrixWork& work, const Layer& layer, const Tensor& input) {
    if (!work.keep_weights) {
        stream_.append(isa::ReadWeights{.first_tile = work.first_weight_tile,
                                        .tiles = narrow<std::uint16_t>(work.tiles)});
    }
    const ArrayWeights weights = array_weights(std::get<MatrixProduct>(layer.work), schedule_.target);
    stream_.set(Register::MultiplyWeightZeroPoint, static_cast<std::uint32_t>(weights.zero_point));
    return {.accumulate = work.accumulate,
            .keep_weights = work.keep_weights,
            .activations = input.type,
            .weights = weights.type};
}

void Emitter::set_window(const ir::Window& window, TensorId input, const ir::FeatureMap& output) {
    const ir::FeatureMap& shape = tensor(input).shape;
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
    stream_.set_value(Register::WindowPadValue,
                      static_cast<std::uint16_t>(tensor(input).zero_point) & largest_of(tensor(input).type));
}

void Emitter::operator()(const ConvolveLines& work) {
    const Layer& layer = begin_layer(work.layer);
    const auto& product = std::get<MatrixProduct>(layer.work);
    if (writes_weights(product)) return multiply_head(work, layer);
    const TensorId input = layer.inputs[0];
    const isa::MatrixFlags flags = fetch(work, layer, tensor(input));
    const ir::FeatureMap& output = tensor(layer.output).shape;
    set_window(window_of_blocks(product.window.value(), work.block), input, blocks_of(output, work.block));
    set_block(work.block, output);
    convolve(work, input, flags, {.first = work.chunk.first_line, .count = work.chunk.lines});
}

void Emitter::convolve(const MatrixWork& work, TensorId input, const isa::MatrixFlags& flags,
                       const Piece& lines) {
    stream_.set(Register::WindowTile, work.first_element_tile);
    stream_.append(isa::Convolve{.unified_buffer_row = row_of(input, work.chunk.first_image),
                                 .accumulator_row = narrow<std::uint16_t>(work.accumulator_row),
                                 .first_line = narrow<std::uint16_t>(lines.first),
                                 .lines = narrow<std::uint16_t>(lines.count),
                                 .flags = flags,
                                 .repeat = narrow<std::uint8_t>(work.tiles - 1)});
}

void Emitter::multiply_head(const MatrixWork& work, const Layer& layer) {
    write_tile(work, layer);
    const TensorId input = layer.inputs[0];
    const isa::MatrixFlags flags = fetch(work, layer, tensor(input));
    const auto& how = *std::get<MatrixProduct>(layer.work).written;
    const HeadMatrices matrices = head_matrices(tensor(input).shape, how.swapped_input);
    const std::uint32_t head = work.chunk.first_line;
    set_block({}, tensor(layer.output).shape);
    if (!how.swapped_input) {
        set_window({}, input, tensor(input).shape);
        convolve(work, input, flags, {.first = head, .count = 1});
    } else {
        // All pixels below each other: those of a head are as many lines apart as there are heads. The first
        // line of windows lies above the image, but for head 0, and is left out.
        const std::uint32_t above = head == 0 ? 0 : 1;
        set_window({}, input, {.height = matrices.rows + above, .width = 1, .channels = matrices.columns});
        stream_.set(Register::WindowInputHeight, matrices.heads * matrices.rows);
        stream_.set(Register::WindowInputWidth, 1);
        stream_.set(Register::WindowStrideY, matrices.heads);
        stream_.set(Register::WindowPadTop, head == 0 ? 0 : matrices.heads - head);
        convolve(work, input, flags, {.first = above, .count = matrices.rows});
    }
    subtract_zero_point(work, layer, flags);
}

void Emitter::operator()(const MultiplyImages& work) {
    const Layer& layer = begin_layer(work.layer);
    const TensorId input = layer.inputs[work.input];
    const isa::MatrixFlags flags = fetch(work, layer, tensor(input));
    // An image begins at a row, so its element tile t is row t, or rows 2t and 2t + 1 for 16-bit elements.
    const std::uint32_t first_row = work.first_element_tile * bytes_of(tensor(input).type);
    stream_.set(Register::MultiplyRowStride, schedule_.memory.tensors[input].image_rows);
    stream_.append(
        isa::MatrixMultiply{.unified_buffer_row = row_of(input, work.chunk.first_image) + first_row,
                            .accumulator_row = narrow<std::uint16_t>(work.accumulator_row),
                            .length = work.chunk.lines,
                            .flags = flags,
                            .repeat = narrow<std::uint8_t>(work.tiles - 1)});
}

void Emitter::set_block(const PixelBlock& block, const ir::FeatureMap& output) {
    stream_.set(Register::BlockWidth, block.width);
    stream_.set(Register::BlockHeight, block.height);
    if (block.pixels() == 1) return;  // the output's size has no meaning then
    stream_.set(Register::BlockOutputWidth, output.width);
    stream_.set(Register::BlockOutputHeight, output.height);
}

void Emitter::set_pixels(TensorId output, std::uint32_t first_channel) {
    const TensorPlacement& place = schedule_.memory.tensors[output];
    stream_.set(Register::ActivationPixelBytes, place.pixel_bytes);
    stream_.set(Register::ActivationChannelOffset,
                place.channel_offset + first_channel * bytes_of(tensor(output).type));
    stream_.set(Register::ActivationImageRows, place.image_rows);
}

void Emitter::set_column(TensorId output, const Segment& segment, const Piece& rows) {
    stream_.set(Register::ActivationPixelBytes, segment.channels * bytes_of(tensor(output).type));
    stream_.set(Register::ActivationChannelOffset, 0);
    stream_.set(Register::ActivationImageRows, rows.count);
}

void Emitter::set_output_range(std::int32_t zero_point, std::int32_t minimum, std::int32_t maximum) {
    stream_.set_value(Register::OutputZeroPoint, zero_point);
    stream_.set_value(Register::OutputMinimum, minimum);
    stream_.set_value(Register::OutputMaximum, maximum);
}

void Emitter::operator()(const ActivatePixels& work) {
    const Segment& segment = schedule_.layers[work.layer].segments[work.column][work.segment];
    const Layer& layer = begin_layer(segment.layer);
    const PixelBlock& block = segment.block;
    const ir::FeatureMap grid = blocks_of(tensor(layer.output).shape, block);
    const Requantization& rules = *requantization(layer);
    const std::uint32_t columns = segment.channels * block.pixels();
    const LoadedParameters needed{.parameters_row = segment.parameters_row,
                                  .columns = columns,
                                  .table_row = schedule_.layers[segment.layer].table_row};
    stream_.set(Register::ActivationColumns, columns);
    stream_.set(Register::ActivationFirstColumn, segment.first_column);
    Piece rows;  // of each image, if they lie by columns
    if (schedule_.memory.tensors[layer.output].by_columns) {
        rows =
            rows_of_channels(tensor(layer.output), schedule_.target, segment.first_channel, segment.channels);
        set_column(layer.output, segment, rows);
    } else {
        set_pixels(layer.output, segment.first_channel);
    }
    set_block(block, tensor(layer.output).shape);
    std::uint32_t outputs = grid.height * grid.width;
    std::uint32_t first_pixel = work.first_pixel;
    const auto* const product = std::get_if<MatrixProduct>(&layer.work);
    if (product != nullptr && product->written && product->written->swapped_output) {
        // A head's rows lie in the channels of one position each.
        const ir::FeatureMap& shape = tensor(layer.output).shape;
        const std::uint32_t head = work.first_pixel / shape.height;
        outputs = shape.height;
        first_pixel = 0;
        stream_.set(Register::ActivationPixelBytes, shape.width * shape.channels);
        stream_.set(Register::ActivationChannelOffset, head * shape.channels + segment.first_channel);
    }
    stream_.set(Register::ActivationOutputsPerImage, outputs);
    stream_.set(Register::ActivationParametersRow, needed.parameters_row);
    if (needed.table_row) stream_.set(Register::ActivationTableRow, *needed.table_row);
    set_output_range(rules.zero_point, rules.minimum, rules.maximum);
    stream_.append(isa::Activate{
        .accumulator_row = narrow<std::uint16_t>(work.accumulator_row),
        .unified_buffer_row = row_of(layer.output, work.first_image, rows),
        .length = narrow<std::uint16_t>(work.pixels),
        .first_output = first_pixel,
        .function = needed.table_row ? isa::ActivationFunction::Lookup : isa::ActivationFunction::Identity,
        .load_parameters = loaded_ != needed,
        .multipliers = rules.multipliers(),
        .output = stored_as(tensor(layer.output).type)});
    loaded_ = needed;
}

void Emitter::append_vector(const isa::Vector& vector) {
    stream_.append(vector);
    // The parameters that the unit holds after vector work are not specified.
    loaded_.reset();
}

void Emitter::operator()(const PoolLines& work) {
    const Layer& layer = begin_layer(work.layer);
    const auto& pooling = std::get<Pooling>(layer.work);
    const TensorId input = layer.inputs[0];
    set_window(pooling.window, input, tensor(layer.output).shape);
    set_pixels(layer.output, 0);
    append_vector({.operation = pooling.operation,
                   .destination_row = row_of(layer.output, work.chunk.first_image),
                   .source_row = row_of(input, work.chunk.first_image),
                   .other_row = 0,
                   .length = work.chunk.lines,
                   .first_line = work.chunk.first_line,
                   .elements = tensor(input).type,
                   .count_padding = pooling.count_padding});
}

std::uint32_t Emitter::size_before(std::uint32_t layer, std::uint32_t input) {
    if (concatenated_.layer != layer) {
        const Layer& concat = network_.layers[layer];
        const bool of_lines = std::get<Concatenation>(concat.work).axis == Concatenation::Axis::Lines;
        concatenated_ = {.layer = layer, .first = {}};
        std::uint32_t size = 0;
        for (const TensorId id : concat.inputs) {
            concatenated_.first.push_back(size);
            size += of_lines ? tensor(id).shape.height : tensor(id).shape.channels;
        }
    }
    return concatenated_.first[input];
}

void Emitter::operator()(const CopyLines& work) {
    const Layer& layer = begin_layer(work.layer);
    const TensorId input = layer.inputs[work.input];
    const bool of_lines = std::get<Concatenation>(layer.work).axis == Concatenation::Axis::Lines;
    const std::uint32_t before = size_before(work.layer, work.input);
    const std::uint32_t first_channel = of_lines ? 0 : before;
    const std::uint32_t first_line = of_lines ? before : 0;
    // Max pooling with 1x1 windows copies the elements. Lines have their numbers in the output; those of the
    // input begin behind as many lines of padding.
    set_window(ir::Window{.pad_top = first_line}, input, tensor(of_lines ? layer.output : input).shape);
    // Copies bytes, independent of the element type.
    stream_.set(Register::WindowChannels, tensor(input).shape.channels * bytes_of(tensor(input).type));
    set_pixels(layer.output, first_channel);
    append_vector({.operation = isa::VectorOperation::MaxPool,
                   .destination_row = row_of(layer.output, work.chunk.first_image),
                   .source_row = row_of(input, work.chunk.first_image),
                   .other_row = 0,
                   .length = work.chunk.lines,
                   .first_line = first_line + work.chunk.first_line,
                   .elements = DataType::Uint8,
                   .count_padding = of_lines});
}

void Emitter::operator()(const ElementwiseRows& work) {
    const Layer& layer = begin_layer(work.layer);
    const auto& elements = std::get<Elementwise>(layer.work);
    switch (elements.operation) {
        case isa::VectorOperation::Add:
            set_operands(elements, layer);
            set_scales(elements);
            set_output_range(tensor(layer.output).zero_point, elements.minimum, elements.maximum);
            break;
        case isa::VectorOperation::Multiply:
            set_operands(elements, layer);
            set_output_range(tensor(layer.output).zero_point, elements.minimum, elements.maximum);
            break;
        case isa::VectorOperation::Lookup:
            stream_.set(Register::ActivationTableRow, schedule_.layers[work.layer].table_row.value());
            break;
        case isa::VectorOperation::MaxPool:
        case isa::VectorOperation::AveragePool:
            throw std::logic_error("pooling is not element-wise");
    }
    elementwise(elements.operation, layer, work.rows);
}

void Emitter::set_operands(const Elementwise& work, const Layer& layer) {
    stream_.set_value(Register::VectorZeroPointA, tensor(layer.inputs[0]).zero_point);
    stream_.set_value(Register::VectorZeroPointB, tensor(layer.inputs[1]).zero_point);
    stream_.set_value(Register::VectorMultiplier, work.result.multiplier);
    stream_.set_value(Register::VectorShift, work.result.shift);
}

void Emitter::set_scales(const Elementwise& sum) {
    stream_.set_value(Register::VectorMultiplierA, sum.a.multiplier);
    stream_.set_value(Register::VectorMultiplierB, sum.b.multiplier);
    stream_.set_value(Register::VectorShiftA, sum.a.shift);
    stream_.set_value(Register::VectorShiftB, sum.b.shift);
}

void Emitter::elementwise(isa::VectorOperation operation, const Layer& layer, const Piece& rows) {
    const Tensor& output = tensor(layer.output);
    const LayerView view{network_, layer, schedule_.target};
    const bool by_image = works_by_image(view, schedule_.memory);
    const auto rows_of_image = static_cast<std::uint32_t>(image_rows(output, schedule_.target.geometry.rows));
    const auto first_row = [&](TensorId id) {
        return row_of(id, rows.first / rows_of_image) + rows.first % rows_of_image;
    };
    const auto set_image_rows = [&](Register reg, TensorId id) {
        if (by_image) stream_.set(reg, schedule_.memory.tensors[id].image_rows);
    };
    stream_.set(Register::VectorRowsPerImage, by_image ? rows_of_image : 0);
    set_image_rows(Register::VectorDestinationImageRows, layer.output);
    set_image_rows(Register::VectorSourceImageRows, layer.inputs[0]);
    isa::Vector vector{.operation = operation,
                       .destination_row = first_row(layer.output),
                       .source_row = first_row(layer.inputs[0]),
                       .other_row = 0,
                       .length = rows.count,
                       .first_line = 0,
                       .elements = output.type,
                       .count_padding = false};
    if (vector.has_other()) {
        vector.half_to_even = std::get<Elementwise>(layer.work).half_to_even;
        set_image_rows(Register::VectorOtherImageRows, layer.inputs[1]);
        vector.other_row = first_row(layer.inputs[1]);
    }
    append_vector(vector);
}

}  // namespace systole::tpu_v1
