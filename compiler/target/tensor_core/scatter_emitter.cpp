// Numbers are added where an image has the greatest or least element of each window. Tap by tap, the windows
// keep their best element and its tap; then, tap by tap, those that chose it add their number to the result.
#include "compiler/target/tensor_core/step_emitter.h"
#include "hw/isa/instruction.h"

namespace systole::tensor_core {
namespace {

using isa::Register;

constexpr std::uint32_t no_tap = 0xFFFFFFFF;
constexpr std::uint32_t negative_zero = 0x80000000;  // +0 would lose the sign of -0

/// Rows of a temporary matrix of one panel, for the windows of a tile.
enum Temporary : std::uint64_t {
    Best,       ///< what the window has selected so far
    Tap,        ///< its tap, or none
    Candidate,  ///< under the current tap, or the number that goes there
    Inside,     ///< whether the current tap is inside the image
};
constexpr std::uint64_t temporaries = 4;

isa::ChainStep constant_step(std::uint32_t word) {
    return {.operation = WordOperation::Constant, .operands = {}, .constant = word};
}

/// Best and tap are replaced where the element under `tap` is selected.
isa::Chain selection_chain(Reduction reduction, std::uint32_t tap, bool has_outside) {
    const std::uint8_t best = 0;
    const std::uint8_t chosen = 1;
    const std::uint8_t element = 2;
    isa::Chain chain{.name = {}, .sources = {{}, {}, {}}};
    if (has_outside) chain.sources.push_back({});
    auto next = static_cast<std::uint8_t>(chain.sources.size());
    const auto add = [&](isa::ChainStep step) {
        chain.steps.push_back(std::move(step));
        return next++;
    };
    // An unordered pair is not in order: NaN is replaced.
    const bool is_greatest = reduction == Reduction::Maximum;
    const std::uint8_t is_kept = add({.operation = WordOperation::LessEqual,
                                      .operands = is_greatest ? std::vector<std::uint8_t>{element, best}
                                                              : std::vector<std::uint8_t>{best, element}});
    const std::uint8_t none = add(constant_step(no_tap));
    const std::uint8_t is_first = add({.operation = WordOperation::EqualInt, .operands = {chosen, none}});
    const std::uint8_t zero = add(constant_step(0));
    const std::uint8_t one = add(constant_step(1));
    const std::uint8_t is_replaced_if_any =
        add({.operation = WordOperation::Select, .operands = {is_kept, zero, one}});
    std::uint8_t is_replaced =
        add({.operation = WordOperation::Select, .operands = {is_first, one, is_replaced_if_any}});
    if (has_outside) {
        const std::uint8_t inside = 3;
        is_replaced = add({.operation = WordOperation::And, .operands = {is_replaced, inside}});
    }
    const std::uint8_t number = add(constant_step(tap));
    const std::uint8_t new_best =
        add({.operation = WordOperation::Select, .operands = {is_replaced, element, best}});
    const std::uint8_t new_tap =
        add({.operation = WordOperation::Select, .operands = {is_replaced, number, chosen}});
    chain.results = {{.value = new_best}, {.value = new_tap}};
    return chain;
}

/// The numbers of the windows that have selected `tap`.
isa::Chain number_chain(std::uint32_t tap) {
    return {.name = {},
            .sources = {{}, {}},
            .steps = {constant_step(tap),
                      {.operation = WordOperation::EqualInt, .operands = {1, 2}},
                      constant_step(negative_zero),
                      {.operation = WordOperation::Select, .operands = {3, 0, 4}}},
            .results = {{.value = 5}}};
}

isa::Chain copying_chain() {
    return {.name = {}, .sources = {{}}, .results = {{.value = 0}}};
}

isa::Chain adding_chain() {
    return {.name = {},
            .sources = {{}, {.spread = isa::Spread::Result}},
            .steps = {{.operation = WordOperation::Add, .operands = {1, 0}}},
            .results = {{.value = 2}}};
}

}  // namespace

std::uint64_t StepEmitter::scatter_rows(const Step& step, const Tile& tile) const {
    const std::uint64_t windows = windows_of_tile(step, tile).rows;
    return windows * (temporaries + (is_kept(step.scattered) ? 0 : panels(step.scattered)));
}

/// Loads the numbers of the windows, and takes the rows of the temporary matrices.
void StepEmitter::load_scattered(Work& work) {
    const Step& step = work.step;
    const TileWindows windows = windows_of_tile(step, work.tile);
    const bool once = network_.tensors[step.scattered].is_shared && !network_.tensors[step.result].is_shared;
    const std::uint64_t image = once ? work.tile.image % work.of.inner : work.tile.image;
    const std::uint64_t first =
        (image * step.output.height + windows.tile.line) * std::uint64_t{step.output.width};
    if (windows.rows > 0) work.scattered = load(work, step.scattered, first, windows.rows);
    work.temporaries = work.next;
    work.next += temporaries * windows.rows;
}

void StepEmitter::select_and_scatter(const Work& work, std::uint64_t panel) {
    const Step& step = work.step;
    const ir::Window& window = *step.window;
    const TileWindows windows = windows_of_tile(step, work.tile);
    const std::uint64_t columns = columns_of_panel(step.result, panel);
    const std::uint64_t result = work.result.of_panel(panel);
    fill(result, work.tile.rows(work.of), columns, 0);
    if (windows.rows == 0) return;
    const auto rows_of = [&](Temporary which) { return work.temporaries + which * windows.rows; };
    fill(rows_of(Best), windows.rows, columns, 0);
    fill(rows_of(Candidate), windows.rows, columns, 0);
    fill(rows_of(Tap), windows.rows, columns, no_tap);
    const auto clear_panel_rows = [&] {
        for (const Register reg :
             {Register::SourcePanelRows, Register::OtherPanelRows, Register::ResultPanelRows})
            stream_.set(reg, 0);
    };
    const auto each_tap = [&](const auto& visit) {
        for (std::uint32_t line = 0; line < window.kernel_height; ++line) {
            for (std::uint32_t column = 0; column < window.kernel_width; ++column) {
                const TapOutputs outputs = outputs_of_tap(step, windows.tile, line, column);
                if (!outputs.empty()) visit(line * window.kernel_width + column, outputs);
            }
        }
    };
    each_tap([&](std::uint32_t tap, const TapOutputs& inside) {
        const bool has_outside = inside.lines < windows.tile.lines || inside.columns < step.output.width;
        const ScatterWalk walk{.inside = inside, .windows = windows.tile};
        clear_panel_rows();
        walk_from_pixels(work, walk);
        const std::uint64_t from =
            work.source.of_panel(panel) + walk.first_pixel(step, work.source_rows.line);
        const auto rows = field32(windows.tile.images * inside.lines * inside.columns);
        stream_.append(isa::RunChain{.chain = chains_.index_of(copying_chain()),
                                     .rows = rows,
                                     .columns = field32(columns),
                                     .results = {field32(rows_of(Candidate) + walk.first_window(step)), 0},
                                     .sources = {field32(from), 0, 0, 0}});
        if (has_outside) {
            fill(rows_of(Inside), windows.rows, columns, 0);
            walk_from_pixels(work, walk);
            stream_.append(isa::RunChain{.chain = chains_.index_of(constant_chain(1)),
                                         .rows = rows,
                                         .columns = field32(columns),
                                         .results = {field32(rows_of(Inside) + walk.first_window(step)), 0}});
        }
        stream_.set(Register::WalkColumns, 0);
        stream_.append(isa::RunChain{
            .chain = chains_.index_of(selection_chain(step.reduction, tap, has_outside)),
            .rows = field32(windows.rows),
            .columns = field32(columns),
            .results = {field32(rows_of(Best)), field32(rows_of(Tap))},
            .sources = {field32(rows_of(Best)), field32(rows_of(Tap)), field32(rows_of(Candidate)),
                        has_outside ? field32(rows_of(Inside)) : 0}});
    });
    each_tap([&](std::uint32_t tap, const TapOutputs& inside) {
        const ScatterWalk walk{.inside = lines_inside(step, work.tile, inside), .windows = windows.tile};
        if (walk.inside.empty()) return;
        clear_panel_rows();
        stream_.set(Register::WalkColumns, 0);
        stream_.append(
            isa::RunChain{.chain = chains_.index_of(number_chain(tap)),
                          .rows = field32(windows.rows),
                          .columns = field32(columns),
                          .results = {field32(rows_of(Candidate)), 0},
                          .sources = {field32(work.scattered.of_panel(panel)), field32(rows_of(Tap)), 0, 0}});
        walk_to_pixels(work, walk);
        stream_.append(
            isa::RunChain{.chain = chains_.index_of(adding_chain()),
                          .rows = field32(windows.tile.images * walk.inside.lines * walk.inside.columns),
                          .columns = field32(columns),
                          .results = {field32(result + walk.first_pixel(step, work.tile.line)), 0},
                          .sources = {field32(rows_of(Candidate) + walk.first_window(step)), 0, 0, 0}});
    });
    stream_.set(Register::WalkColumns, 0);
}

/// From the pixels of the images that are there to the windows.
void StepEmitter::walk_from_pixels(const Work& work, const ScatterWalk& walk) {
    const Step& step = work.step;
    stream_.set(Register::WalkColumns, field32(walk.inside.columns));
    stream_.set(Register::WalkLines, field32(walk.inside.lines));
    stream_.set(Register::FromColumnRows, step.window->stride_x);
    stream_.set(Register::FromLineRows, field32(std::uint64_t{step.window->stride_y} * step.image.width));
    stream_.set(Register::FromImageRows, field32(work.source_rows.lines * step.image.width));
    stream_.set(Register::ToColumnRows, 1);
    stream_.set(Register::ToLineRows, step.output.width);
    stream_.set(Register::ToImageRows, field32(walk.windows.lines * step.output.width));
}

/// From windows to the pixels of the tile.
void StepEmitter::walk_to_pixels(const Work& work, const ScatterWalk& walk) {
    const Step& step = work.step;
    stream_.set(Register::WalkColumns, field32(walk.inside.columns));
    stream_.set(Register::WalkLines, field32(walk.inside.lines));
    stream_.set(Register::FromColumnRows, 1);
    stream_.set(Register::FromLineRows, step.output.width);
    stream_.set(Register::FromImageRows, field32(walk.windows.lines * step.output.width));
    stream_.set(Register::ToColumnRows, step.window->stride_x);
    stream_.set(Register::ToLineRows, field32(std::uint64_t{step.window->stride_y} * step.image.width));
    stream_.set(Register::ToImageRows, field32(work.tile.lines * step.image.width));
}

}  // namespace systole::tensor_core
