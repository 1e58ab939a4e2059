#include <fmt/format.h>

#include <iterator>

#include "compiler/target/tpu_v1/schedule/schedule.h"

namespace systole::tpu_v1 {
namespace {

/// "a .. b" for `count` items from `first` on.
std::string range(std::uint64_t first, std::uint64_t count) {
    return count == 1 ? fmt::format("{}", first) : fmt::format("{}..{}", first, first + count - 1);
}

class Writer {
public:
    explicit Writer(const Schedule& schedule) : schedule_(schedule) {}

    std::string write() {
        write_head();
        for (const TensorPlacement& tensor : schedule_.memory.tensors) write_tensor(tensor);
        for (std::size_t i = 0; i < schedule_.layers.size(); ++i) write_layer(i, schedule_.layers[i]);
        for (const Operation& operation : schedule_.operations) std::visit(*this, operation);
        return std::move(text_);
    }

    void operator()(const ReadInput& read) {
        line("read input {}{}", range(read.first_inference, read.images),
             part_of(schedule_.memory.inputs, read.part));
    }
    void operator()(const ReadConstants&) {
        line("read constants to rows {}", range(0, schedule_.constant_rows));
    }
    void operator()(const ConvolveLines& work) { write_matrix_work("convolve", work); }
    void operator()(const MultiplyImages& work) { write_matrix_work("multiply", work); }
    void operator()(const ActivatePixels& work) {
        line("layer {} activate accumulators {} as column tile {}{}, image {} from pixel {}", work.layer + 1,
             range(work.accumulator_row, work.pixels), work.column, segment_of(work), work.first_image,
             work.first_pixel);
    }
    void operator()(const PoolLines& work) { line("layer {} pool {}", work.layer + 1, lines(work.chunk)); }
    void operator()(const CopyLines& work) {
        line("layer {} copy input {}, {}", work.layer + 1, work.input, lines(work.chunk));
    }
    void operator()(const ElementwiseRows& work) {
        line("layer {} compute rows {}", work.layer + 1, range(work.rows.first, work.rows.count));
    }
    void operator()(const SendTensor& send) {
        line("layer {} send {:?} {}{}", send.layer + 1, schedule_.memory.tensors[send.tensor].name,
             range(send.first_inference, send.images), host_part(" to", send));
    }
    void operator()(const RunSegment& run) {
        line("layer {} host {}", run.layer + 1, range(run.first_inference, run.images));
    }
    void operator()(const FetchTensor& fetch) {
        line("layer {} fetch {:?} {}{}", fetch.layer + 1, schedule_.memory.tensors[fetch.tensor].name,
             range(fetch.first_inference, fetch.images), host_part(" from", fetch));
    }
    void operator()(const WriteOutput& write) {
        const std::string rows = write.rows.count == 0
                                     ? std::string()
                                     : ", rows " + range(write.rows.first, write.rows.count) + " of each";
        line("write output {}{}{}", range(write.first_inference, write.images),
             part_of(schedule_.memory.outputs, write.part), rows);
    }

private:
    template <typename... Arguments>
    void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
        text_ += '\n';
    }

    /// The place in host memory; empty if it is that of the tensor.
    std::string host_part(const char* preposition, const FetchTensor& moved) const {
        if (moved.host_tensor == moved.tensor) return {};
        return fmt::format("{} byte {} of {:?}", preposition, moved.first_byte,
                           schedule_.memory.tensors[moved.host_tensor].name);
    }

    /// The part of a transfer; empty if the host moves whole images.
    std::string part_of(const std::vector<HostPart>& parts, std::uint32_t part) const {
        if (parts.size() == 1) return {};
        return fmt::format(", part {:?}", schedule_.memory.tensors[parts[part].tensor].name);
    }

    /// Whether a column tile of the layer has columns of other layers.
    static bool is_joined(const std::vector<Segment>& segments, std::size_t layer) {
        return segments.size() > 1 || segments.front().layer != layer;
    }

    /// The segment of an activation; empty if its column tile has one layer.
    std::string segment_of(const ActivatePixels& work) const {
        const std::vector<Segment>& segments = schedule_.layers[work.layer].segments[work.column];
        if (!is_joined(segments, work.layer)) return {};
        const Segment& segment = segments[work.segment];
        return fmt::format(", columns {} to layer {}", range(segment.first_column, segment.channels),
                           segment.layer + 1);
    }

    static std::string lines(const Chunk& chunk) {
        return fmt::format("{} lines from image {} line {}", chunk.lines, chunk.first_image,
                           chunk.first_line);
    }

    void write_head() {
        const Target& target = schedule_.target;
        const MemoryPlan& memory = schedule_.memory;
        line("network {:?}: {} inferences in batches of {}", schedule_.network, schedule_.batches.inferences,
             schedule_.batches.batch);
        line("array {} x {}, {} accumulator rows, {} unified-buffer rows, {} bytes of weight memory",
             target.geometry.rows, target.geometry.columns, target.accumulator_rows,
             target.unified_buffer_rows, target.weight_memory_bytes);
        line("batch slices of at most {} images, transfers {}", memory.images_per_slice,
             memory.overlap_transfers ? "overlap" : "in turn");
        if (memory.two_inputs || memory.two_outputs) {
            line("rows for two slices of {}", !memory.two_outputs ? "the input"
                                              : memory.two_inputs ? "input and output"
                                                                  : "the output");
        }
        if (memory.pipeline) {
            std::string stages;
            for (const std::uint32_t first : memory.pipeline->stages) {
                stages += fmt::format(", layer {}", first + 1);
            }
            line("slices in a pipeline of stages from layer 1{}{}", stages,
                 memory.pipeline->weights_first ? ", weights first" : "");
        }
        if (memory.groups.layers > 0) {
            line("the first {} layers take groups of at most {} images", memory.groups.layers,
                 memory.groups.images);
        }
        line("{} weight tiles, {} unified-buffer rows in use, {} of them constants", schedule_.weight_tiles,
             memory.rows, schedule_.constant_rows);
    }

    void write_tensor(const TensorPlacement& tensor) {
        if (tensor.image_rows == 0) return;
        if (tensor.part_of) {
            const TensorPlacement& whole = schedule_.memory.tensors[*tensor.part_of];
            line(
                "tensor {:?} in {:?} from byte {} of its pixels{}", tensor.name, whole.name,
                tensor.channel_offset,
                tensor.row == whole.row ? "" : fmt::format(", row {} of its images", tensor.row - whole.row));
            return;
        }
        line("tensor {:?} from row {}, {} rows an image{}", tensor.name, tensor.row, tensor.image_rows,
             tensor.by_columns ? ", by columns" : "");
    }

    /// The layer of which this is a part; empty for others and for first strips.
    static std::string part_of(std::size_t index, const LayerPlan& layer) {
        if (is_reported(layer, index)) return {};
        return fmt::format(", part of layer {}", *layer.part_of + 1);
    }

    /// The block of pixels; empty if it is one.
    static std::string block_of(const PixelBlock& block) {
        if (block.pixels() == 1) return {};
        return fmt::format(", blocks of {} x {} pixels", block.width, block.height);
    }

    void write_layer(std::size_t index, const LayerPlan& layer) {
        line("layer {} {:?} {}, {} MACs{}{}", index + 1, layer.name, layer.kind, layer.macs,
             block_of(layer.parts.front().block), part_of(index, layer));
        for (std::size_t j = 0; j < layer.tiling.columns.size(); ++j) {
            const ColumnTile& column = layer.tiling.columns[j];
            const std::vector<Segment>& segments = layer.segments[j];
            const bool joined = is_joined(segments, index);
            const bool is_rest = layer.parts.size() > 1 && j >= layer.parts.back().first_tile;
            line("  column tile {}{}: {} {}{}, element tiles{}", j,
                 is_rest ? block_of(layer.parts.back().block) : "", joined ? "joined channels" : "channels",
                 range(column.first_channel, column.channels), joined ? "" : parameters_of(segments.front()),
                 runs(layer, column));
            if (!joined) continue;
            for (const Segment& segment : segments) {
                line("    columns {}: layer {} channels {}{}", range(segment.first_column, segment.channels),
                     segment.layer + 1, range(segment.first_channel, segment.channels),
                     parameters_of(segment));
            }
        }
        if (layer.table_row) line("  table in row {}", *layer.table_row);
    }

    static std::string parameters_of(const Segment& segment) {
        return fmt::format(", parameters in row {}", segment.parameters_row);
    }

    static std::string runs(const LayerPlan& layer, const ColumnTile& column) {
        std::string text;
        for (const TileRun& run : column.runs) {
            if (run.input > 0) fmt::format_to(std::back_inserter(text), " of input {}:", run.input);
            fmt::format_to(std::back_inserter(text), " {} = tiles {}",
                           range(run.first_element_tile, run.tiles),
                           range(std::uint64_t{layer.first_weight_tile} + run.first_weight_tile, run.tiles));
        }
        return text;
    }

    void write_matrix_work(const char* verb, const MatrixWork& work) {
        const std::string input = work.input > 0 ? fmt::format(" of input {}", work.input) : "";
        line("layer {} {} {}, element tiles {}{}, {} tiles {}, {} accumulators from {}", work.layer + 1, verb,
             lines(work.chunk), range(work.first_element_tile, work.tiles), input,
             work.keep_weights ? "kept" : "fetched", range(work.first_weight_tile, work.tiles),
             work.accumulate ? "add to" : "into", work.accumulator_row);
    }

    const Schedule& schedule_;
    std::string text_;
};

}  // namespace

std::string to_text(const Schedule& schedule) {
    return Writer(schedule).write();
}

}  // namespace systole::tpu_v1
