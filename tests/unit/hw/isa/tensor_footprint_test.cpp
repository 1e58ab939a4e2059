// The rows that instructions for a tensor core touch, and the registers they refuse: docs/isa.md, "Machines
// with a tensor core".
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hw/isa/footprint.h"
#include "hw/isa/panels.h"
#include "hw/isa/program_error.h"

namespace {

using namespace systole;
using namespace systole::isa;

using Settings = std::vector<std::pair<Register, std::uint32_t>>;

/// An array of 6 x 5 and 4 lanes.
constexpr Geometry core{.rows = 6, .columns = 5, .tensor = {.lanes = 4}};

Registers set_to(const Settings& settings) {
    Registers registers;
    for (const auto& [reg, value] : settings) registers.set(reg, value);
    return registers;
}

std::vector<MemoryRows> touched(const Instruction& instruction, const Settings& settings = {}) {
    const Footprint all = footprint(instruction, set_to(settings), core);
    return {all.begin(), all.end()};
}

void check_refused(const Instruction& instruction, const Settings& settings, const std::string& rule) {
    CHECK_THROWS_WITH(touched(instruction, settings), Catch::Matchers::EndsWith(": " + rule));
}

MemoryRows reads(MemoryId memory, std::uint64_t first, std::uint64_t last) {
    return {.memory = memory, .access = Access::Read, .rows = {first, last}};
}

MemoryRows writes(MemoryId memory, std::uint64_t first, std::uint64_t last) {
    return {.memory = memory, .access = Access::Write, .rows = {first, last}};
}

using Ranges = std::vector<MemoryRows>;
using enum MemoryId;

TEST_CASE("Transfers of a tensor core touch panels", "[isa][footprint]") {
    // 9 columns are 3 panels.
    const Infeed infeed{.host_address = 100, .hbm_row = 7, .rows = 5, .columns = 9};
    CHECK(touched(infeed) == Ranges{reads(HostMemory, 100, 280), writes(Hbm, 7, 22)});
    CHECK(touched(infeed, {{Register::ResultPanelRows, 8}}) ==
          Ranges{reads(HostMemory, 100, 280), writes(Hbm, 7, 28)});
    CHECK(touched(Infeed{.host_address = 100, .hbm_row = 7, .rows = 5, .columns = 9, .packed = true}) ==
          Ranges{reads(HostMemory, 100, 280), writes(Hbm, 7, 16)});  // two rows in one
    check_refused(infeed, {{Register::ResultPanelRows, 4}}, "result.panel_rows is 4; a panel has 5 rows");
    const Outfeed outfeed{.host_address = 100, .hbm_row = 7, .rows = 5, .columns = 9};
    CHECK(touched(outfeed, {{Register::SourcePanelRows, 8}}) ==
          Ranges{reads(Hbm, 7, 28), writes(HostMemory, 100, 280)});
    check_refused(
        Infeed{.hbm_row = 0xffffffff, .rows = 2, .columns = 1}, {},
        "high-bandwidth-memory rows from 4294967295 on end before row 4294967297; addresses end at row "
        "4294967295");
    const DmaIn in{.hbm_row = 10, .row = 20, .rows = 3, .blocks = 4};
    CHECK(touched(in) == Ranges{reads(Hbm, 10, 22), writes(VectorMemory, 20, 32)});
    CHECK(touched(in, {{Register::DmaHbmRows, 10}, {Register::DmaMemoryRows, 5}}) ==
          Ranges{reads(Hbm, 10, 43), writes(VectorMemory, 20, 38)});
    check_refused(in, {{Register::DmaHbmRows, 2}}, "dma.hbm_rows is 2; a block has 3 rows");
    const GatherRows gather{.hbm_row = 10, .table_rows = 6, .indices = 90, .row = 20, .rows = 3, .blocks = 2};
    CHECK(touched(gather) == Ranges{reads(Hbm, 10, 22), reads(Hbm, 90, 91), writes(VectorMemory, 20, 26)});
    CHECK(touched(gather, {{Register::DmaHbmRows, 10}, {Register::DmaMemoryRows, 5}}) ==
          Ranges{reads(Hbm, 10, 26), reads(Hbm, 90, 91), writes(VectorMemory, 20, 28)});
    check_refused(gather, {{Register::DmaHbmRows, 5}}, "dma.hbm_rows is 5; a block has 6 rows");
    check_refused(gather, {{Register::DmaMemoryRows, 2}}, "dma.memory_rows is 2; a block has 3 rows");
    check_refused(GatherRows{.table_rows = 1, .rows = 129, .blocks = 1}, {},
                  "rows is 129; there are 4 lanes");
    const DmaOut out{.hbm_row = 10, .row = 20, .rows = 3, .blocks = 4};
    CHECK(touched(out, {{Register::DmaHbmRows, 10}}) ==
          Ranges{reads(VectorMemory, 20, 32), writes(Hbm, 10, 43)});
    check_refused(out, {{Register::DmaMemoryRows, 2}}, "dma.memory_rows is 2; a block has 3 rows");
    check_refused(
        DmaIn{.row = 0xffffff, .rows = 2, .blocks = 1}, {},
        "vector-memory rows from 16777215 on end before row 16777217; addresses end at row 16777215");
}

TEST_CASE("Weights and products touch panels", "[isa][footprint]") {
    CHECK(touched(LoadWeights{.source = 30, .depth = 6, .columns = 5}) ==
          Ranges{reads(VectorMemory, 30, 42)});
    CHECK(touched(LoadWeights{.source = 30, .depth = 6, .columns = 5}, {{Register::WeightsPanelRows, 10}}) ==
          Ranges{reads(VectorMemory, 30, 46)});
    CHECK(touched(LoadWeights{.source = 30, .depth = 6, .columns = 3, .transposed = true}) ==
          Ranges{reads(VectorMemory, 30, 36)});
    CHECK(touched(LoadWeights{.source = 30, .depth = 5, .columns = 3, .packed = true}) ==
          Ranges{reads(VectorMemory, 30, 33)});
    check_refused(LoadWeights{.depth = 7, .columns = 1}, {}, "depth is 7; the array has 6 rows");
    check_refused(LoadWeights{.depth = 1, .columns = 6}, {}, "columns is 6; the array has 5");
    const Product product{.result = 100, .source = 0, .rows = 10, .depth = 6, .columns = 5};
    CHECK(touched(product) == Ranges{reads(VectorMemory, 0, 20), writes(VectorMemory, 100, 120)});
    CHECK(touched(product, {{Register::ProductFirst, 3},
                            {Register::SourcePanelRows, 12},
                            {Register::ResultPanelRows, 11}}) ==
          Ranges{reads(VectorMemory, 0, 34), writes(VectorMemory, 100, 121)});
    Product packed = product;
    packed.packed = true;
    CHECK(touched(packed) == Ranges{reads(VectorMemory, 0, 10), writes(VectorMemory, 100, 120)});
    check_refused(Product{.result = 19, .source = 0, .rows = 10, .depth = 6, .columns = 5}, {},
                  "it may not write rows that it reads");
    check_refused(Product{.rows = 1, .depth = 7, .columns = 1}, {}, "depth is 7; the array has 6 rows");
}

TEST_CASE("Products of windows touch the pixels of whole images", "[isa][footprint]") {
    // Images of 3 x 4 pixels with 5 channels, 20 rows apart; 2 x 2 windows of 2 x 3 pixels.
    const Settings images{{Register::WindowInputHeight, 3},  {Register::WindowInputWidth, 4},
                          {Register::WindowChannels, 5},     {Register::WindowImageRows, 20},
                          {Register::WindowKernelHeight, 2}, {Register::WindowKernelWidth, 3},
                          {Register::WindowOutputHeight, 2}, {Register::WindowOutputWidth, 2}};
    const auto with = [&](const Settings& changes) {
        Settings all = images;
        all.insert(all.end(), changes.begin(), changes.end());
        return all;
    };
    const Product product{.result = 1000, .source = 0, .rows = 9, .depth = 6, .columns = 5, .windows = true};
    // 9 windows are in 3 images: 52 pixels, in two panels of channels.
    CHECK(touched(product, images) == Ranges{reads(VectorMemory, 0, 104), writes(VectorMemory, 1000, 1018)});
    CHECK(touched(product, with({{Register::SourcePanelRows, 60}, {Register::ProductFirst, 24}})) ==
          Ranges{reads(VectorMemory, 0, 112), writes(VectorMemory, 1000, 1018)});
    check_refused(product, with({{Register::ProductFirst, 25}}),
                  "it streams elements up to 30 of a window; there are 30");
    check_refused(product, with({{Register::WindowImageRows, 11}}),
                  "window.image_rows is 11; an image has 12 pixels");
    check_refused(product, with({{Register::WindowStrideY, 0}}),
                  "window.stride_y is 0; it must be at least 1");
    check_refused(product, with({{Register::WindowChannels, 0x80000001}}),
                  "window.channels is 2147483649; it must be at most 2147483648");
    check_refused(product, with({{Register::WindowChannels, 0x80000000}}),
                  "a window has more than 2147483648 elements");
}

TEST_CASE("Reductions and transpositions touch panels", "[isa][footprint]") {
    CHECK(touched(ReduceRows{.result = 100, .source = 0, .rows = 10, .columns = 9},
                  {{Register::SourcePanelRows, 12}, {Register::ResultPanelRows, 2}}) ==
          Ranges{reads(VectorMemory, 0, 34), writes(VectorMemory, 100, 105)});
    CHECK(touched(ReduceLanes{.result = 100, .source = 0, .rows = 10, .columns = 9}) ==
          Ranges{reads(VectorMemory, 0, 30), writes(VectorMemory, 100, 110)});
    CHECK(touched(Transpose{.result = 100, .source = 0, .rows = 4, .columns = 3}) ==
          Ranges{reads(VectorMemory, 0, 4), writes(VectorMemory, 100, 103)});
    check_refused(Transpose{.result = 100, .rows = 5, .columns = 3}, {}, "rows is 5; there are 4 lanes");
    check_refused(Transpose{.result = 100, .rows = 3, .columns = 5}, {}, "columns is 5; there are 4 lanes");
    const std::string rule = "it may not write rows that it reads";
    check_refused(ReduceRows{.result = 29, .rows = 10, .columns = 9}, {}, rule);
    check_refused(ReduceLanes{.result = 29, .rows = 10, .columns = 9}, {}, rule);
    check_refused(Transpose{.result = 2, .rows = 3, .columns = 3}, {}, rule);
    // Columns 5 to 10 of the source, in panels 1 and 2, and 1 to 6 of the result, in panels 0 and 1.
    const MoveLanes move{.result = 100, .source = 0, .rows = 10, .columns = 6, .first = 5, .to = 1};
    CHECK(touched(move, {{Register::SourcePanelRows, 12}, {Register::ResultPanelRows, 11}}) ==
          Ranges{reads(VectorMemory, 12, 34), writes(VectorMemory, 100, 121)});
    check_refused(MoveLanes{.result = 29, .rows = 10, .columns = 9}, {}, rule);
}

TEST_CASE("A collective touches the rows that a core gives and gets", "[isa][footprint]") {
    const auto of = [](CollectiveKind kind) {
        return Collective{.kind = kind, .cores = 4, .result = 100, .source = 0, .rows = 10};
    };
    CHECK(touched(of(CollectiveKind::AllReduce)) ==
          Ranges{reads(VectorMemory, 0, 10), writes(VectorMemory, 100, 110)});
    CHECK(touched(of(CollectiveKind::AllGather)) ==
          Ranges{reads(VectorMemory, 0, 10), writes(VectorMemory, 100, 140)});
    CHECK(touched(of(CollectiveKind::ReduceScatter)) ==
          Ranges{reads(VectorMemory, 0, 40), writes(VectorMemory, 100, 110)});
    CHECK(touched(of(CollectiveKind::Broadcast)) ==
          Ranges{reads(VectorMemory, 0, 10), writes(VectorMemory, 100, 110)});
    Collective in_place = of(CollectiveKind::AllReduce);
    in_place.result = 0;
    CHECK(touched(in_place) == Ranges{reads(VectorMemory, 0, 10), writes(VectorMemory, 0, 10)});
    in_place.result = 1;
    check_refused(in_place, {}, "it may not write rows that it reads, unless they are the same");
    in_place.kind = CollectiveKind::AllGather;
    in_place.result = 0;
    check_refused(in_place, {}, "it may not write rows that it reads, unless they are the same");
}

/// What a `chain` of one chain touches.
Ranges of_chain(const Chain& chain, const RunChain& run, const Settings& settings = {}) {
    Program program;
    program.geometry = core;
    program.chains = {chain};
    const Footprint all = footprint(Instruction(run), set_to(settings), program);
    return {all.begin(), all.end()};
}

Chain moving(std::vector<ChainSource> sources, std::vector<ChainResult> results = {{}}) {
    return {.name = "c", .sources = std::move(sources), .results = std::move(results)};
}

TEST_CASE("A chain touches its results and sources", "[isa][footprint]") {
    const RunChain run{.rows = 10, .columns = 9, .results = {1000, 0}, .sources = {0, 100, 200, 300}};
    const Chain chain = moving({{.spread = Spread::Rows},
                                {.spread = Spread::Rows},
                                {.spread = Spread::Row},
                                {.spread = Spread::Column}});
    CHECK(of_chain(chain, run) == Ranges{writes(VectorMemory, 1000, 1030), reads(VectorMemory, 0, 30),
                                         reads(VectorMemory, 100, 130), reads(VectorMemory, 200, 203),
                                         reads(VectorMemory, 300, 310)});
    CHECK(of_chain(chain, run,
                   {{Register::SourcePanelRows, 11},
                    {Register::OtherPanelRows, 12},
                    {Register::ResultPanelRows, 13}}) ==
          Ranges{writes(VectorMemory, 1000, 1036), reads(VectorMemory, 0, 32), reads(VectorMemory, 100, 134),
                 reads(VectorMemory, 200, 203), reads(VectorMemory, 300, 310)});
    CHECK(of_chain(moving({{.spread = Spread::Result}}), {.rows = 10, .columns = 9, .results = {1000, 0}}) ==
          Ranges{writes(VectorMemory, 1000, 1030), reads(VectorMemory, 1000, 1030)});
    // A packed result has half of the rows.
    const Chain packed = moving({{.spread = Spread::Rows, .packed = true}}, {{.packed = true}, {}});
    CHECK(of_chain(packed, {.rows = 9, .columns = 4, .results = {100, 200}, .sources = {0}}) ==
          Ranges{writes(VectorMemory, 100, 105), writes(VectorMemory, 200, 209), reads(VectorMemory, 0, 5)});
}

TEST_CASE("A result replaces a source in its place, or lies elsewhere", "[isa][footprint]") {
    const Chain one = moving({{.spread = Spread::Rows}});
    const RunChain in_place{.rows = 10, .columns = 9, .results = {5, 0}, .sources = {5}};
    CHECK(of_chain(one, in_place) == Ranges{writes(VectorMemory, 5, 35), reads(VectorMemory, 5, 35)});
    const auto refused = [](const Chain& chain, const RunChain& run, const Settings& settings,
                            const std::string& rule) {
        CHECK_THROWS_WITH(of_chain(chain, run, settings), Catch::Matchers::EndsWith(": " + rule));
    };
    const std::string rule = "a result may not overlap a source, but for replacing it in its place";
    refused(one, in_place, {{Register::SourcePanelRows, 11}}, rule);
    refused(one, {.rows = 10, .columns = 9, .results = {6, 0}, .sources = {5}}, {}, rule);
    refused(moving({{.spread = Spread::Rows, .packed = true}}), {.rows = 1, .columns = 1}, {}, rule);
    refused(moving({{.spread = Spread::Row}}), {.rows = 1, .columns = 1}, {}, rule);
    refused(moving({{.spread = Spread::Column}}), {.rows = 1, .columns = 1}, {}, rule);
    refused(moving({}, {{}, {}}), {.rows = 2, .columns = 1, .results = {5, 6}}, {}, "its results overlap");
    refused(one, {.chain = 1, .rows = 1, .columns = 1, .results = {5, 0}}, {}, "the program has 1 chains");
}

TEST_CASE("Rows of a chain may lie apart", "[isa][footprint]") {
    const Chain one = moving({{.spread = Spread::Rows}});
    // Lines of 3 rows, images of 2 lines; 10 rows end in the second line of the second image.
    const RunChain run{.rows = 10, .columns = 4, .results = {1000, 0}, .sources = {0}};
    const Settings walk{{Register::WalkColumns, 3},    {Register::WalkLines, 2},
                        {Register::FromColumnRows, 2}, {Register::FromLineRows, 20},
                        {Register::FromImageRows, 50}, {Register::ToColumnRows, 1},
                        {Register::ToLineRows, 3},     {Register::ToImageRows, 7}};
    CHECK(of_chain(one, run, walk) == Ranges{writes(VectorMemory, 1000, 1011), reads(VectorMemory, 0, 71)});
    const auto with = [&](Register reg, std::uint32_t value) {
        Settings all = walk;
        all.emplace_back(reg, value);
        return all;
    };
    // The last row of the first line of the second image is the farthest.
    CHECK(of_chain(one, run, with(Register::FromLineRows, 1)) ==
          Ranges{writes(VectorMemory, 1000, 1011), reads(VectorMemory, 0, 55)});
    // The last row of the first image is.
    CHECK(of_chain(one, run, with(Register::FromImageRows, 1)) ==
          Ranges{writes(VectorMemory, 1000, 1011), reads(VectorMemory, 0, 25)});
    const auto refused = [&](Register reg, std::uint32_t value, const std::string& rule) {
        CHECK_THROWS_WITH(of_chain(one, run, with(reg, value)), Catch::Matchers::EndsWith(": " + rule));
    };
    refused(Register::WalkLines, 0, "walk.lines is 0; it must be at least 1");
    refused(Register::ToColumnRows, 0,
            "to.column_rows is 0; it must be at least 1, so that rows of the result differ");
    refused(Register::ToLineRows, 2,
            "to.line_rows is 2; it must be at least 3, so that rows of the result differ");
    refused(Register::ToImageRows, 5,
            "to.image_rows is 5; it must be at least 6, so that rows of the result differ");
    const RowWalk from = walk_from(set_to(walk), 10);
    const std::vector<std::uint64_t> places{0, 2, 4, 20, 22, 24, 50, 52, 54, 70};
    for (std::size_t row = 0; row < places.size(); ++row) CHECK(from.at(row) == places[row]);
}

}  // namespace
