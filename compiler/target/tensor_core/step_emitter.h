#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/emit/instruction_stream.h"
#include "compiler/target/tensor_core/box_tiles.h"
#include "compiler/target/tensor_core/memory.h"
#include "compiler/target/tensor_core/network.h"
#include "compiler/target/tensor_core/tiles.h"
#include "hw/isa/chain.h"
#include "hw/machine/machine_config.h"

namespace systole::tensor_core {

/// A matrix, or some rows of one, in vector memory: a panel of its columns is `panel_rows` behind the one
/// before it. Rows are those of memory, of which each has two of a packed matrix.
struct View {
    std::uint64_t row = 0;
    std::uint64_t panel_rows = 0;
    bool is_packed = false;

    std::uint64_t of_panel(std::uint64_t panel) const { return row + panel * panel_rows; }
};

/// A number as a field of an instruction. It must fit: no memory has 2^32 rows.
inline std::uint32_t field32(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}

/// Some rows of the source of a transposition and some of its columns; they begin with a whole panel.
struct TransposedPart {
    std::uint64_t row = 0;
    std::uint64_t rows = 1;
    std::uint64_t column = 0;
    std::uint64_t columns = 1;
};

/// The same word for all elements.
isa::Chain constant_chain(std::uint32_t word);

/// The chains of a program; equal ones are there once.
class ChainTable {
public:
    std::uint16_t index_of(isa::Chain chain);
    const std::vector<isa::Chain>& chains() const { return chains_; }

private:
    std::vector<isa::Chain> chains_;
};

/// Writes the instructions of steps, tile by tile: what a tile reads from high-bandwidth memory comes first,
/// then the work for each panel of the result, and then what goes back.
class StepEmitter {
public:
    /// The plan must outlive the emitter.
    StepEmitter(const Network& network, const MemoryPlan& plan, const machine::MachineConfig& machine,
                emit::InstructionStream& stream);

    /// The images with which the steps that follow work: `images` from one of the network's on, in turn 0
    /// or 1. Of the last group, the first `present` alone are there: the others' rows may have any words.
    void begin(std::uint64_t first_image, std::uint64_t images, std::uint64_t turn, std::uint64_t present);
    void begin(std::uint64_t first_image, std::uint64_t images, std::uint64_t turn) {
        begin(first_image, images, turn, images);
    }
    /// A step of the network. Throws ModelError if the smallest tile does not fit.
    void emit(const Step& step);
    /// Where the images of a tensor begin in its memory.
    std::uint64_t row_of(TensorId id) const;
    const ChainTable& chains() const { return chains_; }

private:
    /// A sum of many rows, which come some at a time.
    struct LongSum {
        const Step& step;
        ResultRows of;
        Tile tile;
        std::uint64_t taken = 0;  ///< of the pool
        View result = {};
        std::map<TensorId, View> operands = {};  ///< by tensor
    };
    /// What a step has in vector memory for all of its tiles.
    struct Shared {
        std::vector<std::uint64_t> taken;  ///< of the pool
        std::map<TensorId, View> rows;     ///< constants of one row, and weights of channels
        std::optional<std::uint64_t> weights;
        std::vector<LongSum> sums;  ///< of a chain's rows
    };
    /// A tile under way.
    struct Work {
        const Step& step;
        const ResultRows& of;
        Tile tile;
        std::uint64_t next = 0;  ///< row of its part of the pool
        View source = {};
        View scattered = {};
        std::uint64_t temporaries = 0;  ///< first row; of SelectAndScatter
        SourceRows source_rows = {};
        View result = {};  ///< where it is computed; none of columns that are stored some at a time
        View packed = {};  ///< of a result whose rows are packed by its last chain: where these go
        std::map<TensorId, View> operands = {};  ///< by tensor of the chains; also the step's own results
        std::uint64_t summed = 0;                ///< where a panel that is summed is computed
        std::optional<std::uint64_t> weights = {};
        std::uint64_t rows = 0;  ///< those of the tile; with windows of lines, those of some columns of it
    };
    /// Rows of an operand for a tile.
    struct OperandRows {
        std::uint64_t first = 0;
        std::uint64_t count = 0;
    };
    /// A tile of a box of rows under way.
    struct BoxWork {
        const Step& step;
        const RowBox& box;
        std::vector<BoxAxis> axes = {};
        std::uint64_t first_panel = 0;  ///< of the result
        std::uint64_t panels = 0;
        BoxTile tile = {};
        std::uint64_t count = 0;  ///< rows of the tile
        std::uint64_t whole = 0;  ///< where the rows of the result are put together
    };
    /// Rows of a gathered result, and panels of them.
    struct GatheredPart {
        std::uint64_t row = 0;
        std::uint64_t rows = 0;
        std::uint64_t panel = 0;
        std::uint64_t panels = 0;
    };
    /// Weights for the cuts of a panel of the result.
    struct LoadedWeights {
        std::uint64_t row = 0;         ///< of the first cut
        std::uint64_t cut_rows = 0;    ///< from a cut to the next
        std::uint64_t panel_rows = 0;  ///< of weights that are transposed
    };
    /// Lines of the images of a tile, for some lines of a kernel.
    struct KernelLines {
        View view = {};
        std::uint64_t first = 0;  ///< of an image
        std::uint64_t lines = 0;
        std::uint64_t image_rows = 0;  ///< from an image to the next

        std::uint64_t end() const { return first + lines; }
    };
    /// Some columns of windows of lines: of each, all rows of a tile.
    struct WindowColumns {
        std::uint64_t first = 0;
        std::uint64_t count = 0;
    };

    std::uint64_t panels(TensorId tensor) const;
    std::uint64_t columns_of_panel(TensorId tensor, std::uint64_t panel) const;
    bool is_kept(TensorId tensor) const { return network_.tensors[tensor].home == Home::VectorMemory; }
    [[noreturn]] void fail_for_room(const Step& step, std::uint64_t rows) const;

    // Room for tiles.
    std::uint64_t rows_needed(const Step& step, const ResultRows& of, const Tile& tile) const;
    std::uint64_t operand_rows(const Step& step, const ResultRows& of, const Tile& tile) const;
    OperandRows rows_for_tile(const Step& step, const ResultRows& of, const Tile& tile,
                              const Operand& operand) const;
    bool goes_by_panels(const Step& step) const;
    bool comes_by_panels(const Step& step, const Operand& operand) const;
    std::uint64_t rows_of_panel(const Step& step, const ResultRows& of, const Tile& tile) const;
    std::uint64_t room_for_weights(const Step& step, std::uint64_t gap) const;
    static std::uint64_t different_tiles(const Step& step, std::uint64_t lines);
    std::vector<Tile> choose_tiles(const Step& step, const ResultRows& of) const;
    std::uint64_t take(const Step& step, std::uint64_t rows);

    // Into and out of vector memory.
    void copy_in(std::uint64_t hbm_row, std::uint64_t row, std::uint64_t rows);
    View load(Work& work, TensorId id, std::uint64_t first, std::uint64_t rows);
    View load_words(Work& work, TensorId id, std::uint64_t first, std::uint64_t rows);
    View words_of(Work& work, const View& view, std::uint64_t rows, std::uint64_t columns);
    void repack(const View& from, const View& to, std::uint64_t rows, std::uint64_t columns);
    View load_panel(Work& work, TensorId id, const OperandRows& rows, std::uint64_t panel);
    void load_shared(const Step& step, Shared& shared);
    void load_operands(Work& work);
    void store(const Work& work, TensorId id, const View& from, std::uint64_t panel);
    View place_result(Work& work, TensorId id) const;
    bool packs_at_the_end(const Step& step) const;
    bool goes_by_pairs(const Step& step) const;
    std::uint64_t lines_together(const Step& step, const ResultRows& of) const;

    // Weights.
    bool shares_weights(const Step& step) const;
    std::uint64_t depth_of(const Step& step) const;
    std::uint64_t rows_of_cut(const Step& step) const;
    bool keeps_weights(const Step& step) const;
    std::uint64_t kept_weight_rows(const Step& step) const;
    static std::uint64_t weights_image(const Work& work);
    std::uint64_t weights_in_hbm(const Step& step, std::uint64_t image, std::uint64_t panel,
                                 std::uint64_t cut) const;
    void load_weights(const Step& step, std::uint64_t image, std::uint64_t to);

    // Sources of products that are transposed on their way.
    bool packs_transposed(const Step& step) const;
    std::uint64_t transposed_rows(const Step& step, std::uint64_t rows) const;
    std::uint64_t rows_for_transposing(const Step& step) const;
    View load_transposed(Work& work);

    // Products of which some of the depth comes in at a time.
    std::uint64_t depth_unit() const;
    std::uint64_t rows_of_depth(const Step& step, std::uint64_t rows, std::uint64_t units) const;
    std::uint64_t rows_of_sums(const Step& step, const ResultRows& of, const Tile& tile) const;
    std::vector<Tile> tiles_by_depth(const Step& step, const ResultRows& of) const;
    void multiply_by_depth(const Step& step);
    void add_transposed_rows(Work& work);
    void add_depth(Work& work, std::uint64_t first, std::uint64_t units);
    View load_transposed_rows(Work& work, std::uint64_t first, std::uint64_t depth);

    // Of them, windows that are larger than their results.
    std::uint64_t rows_of_kernel_lines(const Step& step, const Tile& tile, std::uint64_t of_kernel) const;
    std::vector<Tile> tiles_by_kernel(const Step& step, const ResultRows& of) const;
    void add_windows(Work& work);
    KernelLines load_kernel_lines(Work& work, const std::optional<KernelLines>& before);

    // Work.
    void emit_tiles(const Step& step, const ResultRows& of, Shared& shared);
    void emit_tile(const Step& step, const ResultRows& of, const Tile& tile, const Shared& shared);
    void emit_panels(const Work& work, const Shared& shared);
    void multiply(const Work& work, const Shared& shared, std::uint64_t panel);
    void multiply_by_parts(const Work& work, std::uint64_t panel, std::uint64_t first, std::uint64_t end);
    LoadedWeights load_cuts(const Work& work, std::uint64_t panel, std::uint64_t first, std::uint64_t end);
    void multiply_cuts(const Work& work, std::uint64_t panel, std::uint64_t first, std::uint64_t end,
                       const LoadedWeights& weights);
    void set_windows(const Step& step, const Work& work);
    void reduce_windows(const Work& work, const Shared& shared, std::uint64_t panel);
    void take_tap(const Work& work, const TapOutputs& outputs, std::uint64_t panel, std::uint16_t chain,
                  std::uint64_t weights);
    void fill(std::uint64_t row, std::uint64_t rows, std::uint64_t columns, std::uint32_t word,
              std::uint64_t panel_rows = 0);
    void reduce_rows(const Work& work, std::uint64_t panel);
    void run_chains(const Work& work, const Shared& shared, std::uint64_t panel, std::size_t first = 0);
    /// `like`: a tensor with the columns of what the chain computes; absent: the step's result.
    void run_chain(const Work& work, const Shared& shared, std::uint64_t panel, const ChainUse& chain,
                   const View& result, std::optional<TensorId> like = {});
    void add_further_results(const Work& work, const Shared& shared, std::uint64_t panel);

    // Sums of rows that come some at a time.
    std::uint64_t rows_to_reduce(const Step& step, std::uint64_t rows) const;
    View compute_before(Work& work, const Shared& shared, std::uint64_t first);
    void reduce_long_rows(const Step& step, const ResultRows& of, const Tile& tile, const Shared& shared);
    std::vector<LongSum> begin_sums(const std::vector<const Step*>& steps, std::uint64_t row);
    void add_rows(const LongSum& sum, std::uint64_t panel, std::uint64_t from, std::uint64_t rows,
                  bool is_first);
    void end_sums(const std::vector<LongSum>& sums, const Shared& shared);
    void add_panel_to_sums(const Work& work, const Shared& shared, std::uint64_t panel);

    // Numbers that are added where windows have selected elements.
    struct ScatterWalk {
        TapOutputs inside = {};
        Tile windows = {};

        std::uint64_t first_window(const Step& step) const {
            return (inside.line - windows.line) * step.output.width + inside.column;
        }
        /// Behind the first pixel of a line.
        std::uint64_t first_pixel(const Step& step, std::uint64_t line) const {
            return (inside.source_line - line) * step.image.width + inside.source_column;
        }
    };
    std::uint64_t scatter_rows(const Step& step, const Tile& tile) const;
    void load_scattered(Work& work);
    void select_and_scatter(const Work& work, std::uint64_t panel);
    void walk_from_pixels(const Work& work, const ScatterWalk& walk);
    void walk_to_pixels(const Work& work, const ScatterWalk& walk);

    // Windows of lines.
    std::uint64_t strip_rows(const Step& step, const Tile& tile) const;
    std::uint64_t rows_of_window_column(const Step& step, const Tile& tile) const;
    void multiply_lines(const Work& work, const Shared& shared);
    void load_strips(const Work& work, std::uint64_t to);
    void form_windows(const Work& work, std::uint64_t strips, const WindowColumns& columns, std::uint64_t to);
    bool can_place(const Step& step) const;
    void place_columns(const Work& work, const Shared& shared, std::uint64_t panel,
                       const WindowColumns& columns, std::uint64_t from, std::uint64_t width);
    bool stores_columns(const Step& step) const;
    void store_columns(const Work& work, std::uint64_t panel, const WindowColumns& columns);

    // Moves.
    void gather_rows(const Step& step);
    void gather_part(const Step& step, std::uint64_t image, const GatheredPart& part);
    void move(const Step& step);
    void move_rows(const Step& step, const MovedRows& moved, std::uint64_t first, std::uint64_t count);
    void gather(const std::vector<std::uint64_t>& rows, std::uint64_t hbm_row, std::uint64_t to,
                std::uint64_t apart);
    void scatter(const std::vector<std::uint64_t>& rows, std::uint64_t hbm_row, std::uint64_t from);
    void fill_columns(const Step& step, std::uint64_t matrix, std::uint64_t rows, std::uint64_t to,
                      std::uint64_t columns, std::uint32_t word);

    // Moves of boxes of rows, and transpositions.
    void move_boxes(const Step& step);
    void move_box(const Step& step, const RowBox& box, std::uint64_t first_panel, std::uint64_t box_panels);
    void put_in_columns(const BoxWork& work, const ColumnGroup& group);
    void load_box(const BoxWork& work, const BoxColumns& part, const ColumnGroup& group, std::uint64_t to);
    void store_box(const BoxWork& work);
    void transfer(bool into_memory, const std::vector<TransferAxis>& all, std::int64_t hbm_row,
                  std::uint64_t row);
    void repeat_rows(const std::vector<std::uint64_t>& count, const std::vector<std::uint64_t>& apart,
                     std::uint64_t from, std::uint64_t to);
    void repeat_column(const Step& step, std::uint64_t from, std::uint64_t rows, std::uint64_t lane,
                       std::uint64_t columns, std::uint64_t to);
    void spread_panel(std::uint64_t panel_row, std::uint64_t matrix, std::uint64_t rows, std::uint64_t to,
                      std::uint64_t columns);
    void transpose(const Step& step);
    void transpose_tile(const Step& step, const std::vector<Transposition::Axis>& axes,
                        const std::vector<std::uint64_t>& first, const std::vector<std::uint64_t>& count,
                        const TransposedPart& part);

    // Sums over cores.
    void all_reduce(const Step& step);

    const Network& network_;
    const machine::MachineConfig& machine_;
    const std::uint64_t lanes_;
    const std::uint64_t array_rows_;
    const std::vector<std::uint64_t>& tile_rows_;  ///< by step
    const std::uint64_t least_tile_rows_;          ///< those that all steps have
    TilePool pool_;
    emit::InstructionStream& stream_;
    ChainTable chains_;
    std::uint64_t first_image_ = 0;
    std::uint64_t images_ = 1;
    std::uint64_t present_ = 1;  ///< of these images
    std::uint64_t turn_ = 0;
};

}  // namespace systole::tensor_core
