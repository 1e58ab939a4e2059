#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <utility>

#include "compiler/ir/model_error.h"
#include "compiler/target/tpu_v1/choose/choose_joins.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "compiler/target/tpu_v1/network/parallel_layers.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "hw/machine/machine_config.h"
#include "tests/support/network_builder.h"
#include "tests/support/random_network.h"
#include "tests/support/random_runs.h"

namespace systole::tpu_v1 {
namespace {

using JoinedTo = std::vector<std::uint32_t>;

/// Layers over a 4 x 4 x 3 input, tensor 0. Layer l makes tensor l + 1.
class ParallelBuilder : public tests::NetworkBuilder {
public:
    ParallelBuilder() : NetworkBuilder({4, 4, 3}) {}
};

Target target(std::uint32_t columns) {
    return {.geometry = {.rows = 8, .columns = columns},
            .accumulator_rows = 64,
            .unified_buffer_rows = 4000,
            .weight_memory_bytes = 1 << 20};
}

/// The layers that convolutions with the same window and these numbers of filters are joined to.
JoinedTo joined_to_of(const std::vector<std::uint32_t>& filters, std::uint32_t columns) {
    ParallelBuilder builder;
    for (const std::uint32_t count : filters) builder.convolution(0, count);
    return group_parallel_layers(builder.network(), target(columns));
}

std::uint32_t column_tiles(std::uint32_t channels, std::uint32_t columns) {
    return (channels + columns - 1) / columns;
}

}  // namespace

TEST_CASE("Parallel convolutions are joined where they take fewer column tiles than apart",
          "[compiler][schedule][parallel]") {
    CHECK(joined_to_of({64, 64, 96}, 256) == JoinedTo{0, 0, 0});
    CHECK(joined_to_of({128, 128}, 256) == JoinedTo{0, 0});
    CHECK(joined_to_of({128, 129}, 256) == JoinedTo{0, 1});
    CHECK(joined_to_of({256, 256}, 256) == JoinedTo{0, 1});
    CHECK(joined_to_of({256, 1}, 256) == JoinedTo{0, 1});
    // Across column tiles: 2 and 2 apart, 3 together.
    CHECK(joined_to_of({300, 400}, 256) == JoinedTo{0, 0});
    CHECK(joined_to_of({6, 6}, 4) == JoinedTo{0, 0});
}

TEST_CASE("Parallel convolutions stay apart where the mapping does not join them",
          "[compiler][schedule][parallel]") {
    ParallelBuilder builder;
    builder.convolution(0, 64);
    builder.convolution(0, 64);
    Target apart = target(256);
    CHECK(group_parallel_layers(builder.network(), apart) == JoinedTo{0, 0});
    apart.mapping.join_convolutions = false;
    CHECK(group_parallel_layers(builder.network(), apart) == JoinedTo{0, 1});
}

TEST_CASE("A convolution in blocks of pixels is joined to none", "[compiler][schedule][parallel]") {
    ParallelBuilder builder;
    for (int i = 0; i < 3; ++i) builder.convolution(0, 4);
    CHECK(group_parallel_layers(builder.network(), target(64)) == JoinedTo{0, 0, 0});
    for (const PixelBlock block : {PixelBlock{.width = 2, .height = 1}, PixelBlock{.width = 1, .height = 2},
                                   PixelBlock{.width = 2, .height = 2}}) {
        for (std::uint32_t alone = 0; alone < 3; ++alone) {
            CAPTURE(block.width, block.height, alone);
            Target with_blocks = target(64);
            with_blocks.choices.blocks.assign(3, {});
            with_blocks.choices.blocks[alone] = block;
            JoinedTo expected{0, 0, 0};
            if (alone == 0) expected = {0, 1, 1};
            if (alone > 0) expected[alone] = alone;
            CHECK(group_parallel_layers(builder.network(), with_blocks) == expected);
        }
    }
}

TEST_CASE(
    "Parallel convolutions whose weights have different zero points stay apart where the array subtracts "
    "them",
    "[compiler][schedule][parallel]") {
    ParallelBuilder builder;
    for (int i = 0; i < 5; ++i) builder.convolution(0, 64);
    Network network = builder.network();
    constexpr std::int32_t zero_points[] = {3, 0, 3, -4, 0};
    std::size_t next = 0;
    for (Layer& layer : network.layers) {
        std::get<MatrixProduct>(layer.work).weight_zero_point = zero_points[next++];
    }
    REQUIRE(next == std::size(zero_points));
    Target with_row_sums = target(256);
    CHECK(group_parallel_layers(network, with_row_sums) == JoinedTo{0, 1, 0, 3, 1});
    // Otherwise the tiles hold differences to the zero points, of 16 bits.
    with_row_sums.row_sums = false;
    CHECK(group_parallel_layers(network, with_row_sums) == JoinedTo{0, 1, 0, 0, 1});
}

TEST_CASE("A convolution is joined to the first with which it saves a column tile",
          "[compiler][schedule][parallel]") {
    // 6 and 2 fill 8 columns; 8 fills them alone; 3 begins anew, and 4 goes with it.
    CHECK(joined_to_of({6, 8, 2, 3, 4}, 8) == JoinedTo{0, 1, 0, 3, 3});
}

TEST_CASE("Only convolutions of the same tensor and the same windows are parallel",
          "[compiler][schedule][parallel]") {
    ParallelBuilder builder;
    const TensorId first = builder.convolution(0, 2);                                   // layer 0
    builder.convolution(0, 2, {.kernel_height = 2});                                    // layer 1
    builder.convolution(0, 2, {.kernel_height = 2, .stride_y = 2});                     // layer 2
    builder.convolution(first, 2);                                                      // layer 3
    builder.depthwise(0);                                                               // layer 4
    builder.dense(0, 2);                                                                // layer 5
    builder.dense(0, 2);                                                                // layer 6
    builder.convolution(0, 2, {.kernel_height = 2});                                    // layer 7
    builder.convolution(0, 2, {.kernel_height = 1, .kernel_width = 1, .stride_y = 1});  // layer 8
    builder.convolution(first, 2);                                                      // layer 9
    CHECK(group_parallel_layers(builder.network(), target(16)) == JoinedTo{0, 1, 2, 3, 4, 5, 6, 1, 0, 3});
}

TEST_CASE("Dense layers of the same inputs, and convolutions through the same window, read the same rows",
          "[compiler][schedule][parallel]") {
    ParallelBuilder builder;
    builder.convolution(0, 2);                        // layer 0
    const TensorId dense = builder.dense(0, 2);       // layer 1
    builder.convolution(0, 300);                      // layer 2
    builder.dense(0, 3);                              // layer 3
    builder.depthwise(0);                             // layer 4
    builder.convolution(0, 2, {.kernel_height = 2});  // layer 5
    builder.dense(dense, 2);                          // layer 6
    using Sets = std::vector<std::vector<std::uint32_t>>;
    CHECK(sibling_layers(builder.network(), target(256)) == Sets{{0, 2}, {1, 3}});
}

TEST_CASE("A mapping joins dense layers, each with its columns and its segments",
          "[compiler][schedule][parallel]") {
    ParallelBuilder builder;
    builder.dense(0, 3);
    builder.dense(0, 4);
    builder.dense(0, 2);
    Target joined = target(4);
    CHECK(group_parallel_layers(builder.network(), joined) == JoinedTo{0, 1, 2});
    joined.choices.joins = {0, 1, 0};
    const std::vector<LayerPlan> plans = plan_layers(analyse(builder.network(), joined), joined);
    CHECK(plans[2].joined_to == 0);
    CHECK(plans[2].kind == "joined to l1");
    // 48 elements take six tiles a column tile.
    CHECK(plans[0].tiling.tiles == 12);
    CHECK(plans[1].tiling.tiles == 6);
    REQUIRE(plans[0].segments.size() == 2);
    CHECK(plans[0].segments[0] ==
          std::vector<Segment>{{.layer = 0, .first_column = 0, .first_channel = 0, .channels = 3},
                               {.layer = 2, .first_column = 3, .first_channel = 0, .channels = 1}});
    CHECK(plans[0].segments[1] ==
          std::vector<Segment>{{.layer = 2, .first_column = 0, .first_channel = 1, .channels = 1}});
}

TEST_CASE("Of many layers that read the same rows, each joins one of the last groups",
          "[compiler][schedule][parallel]") {
    // 16, 17 and 40 layers: the last way to compare, and the one for larger sets.
    for (const std::uint32_t layers : {16U, 17U, 40U}) {
        INFO(layers << " layers");
        ParallelBuilder builder;
        for (std::uint32_t l = 0; l < layers; ++l) builder.dense(0, 16);
        machine::MachineConfig machine;
        Target joined = target(machine.matrix_unit.columns);
        joined.geometry.rows = machine.matrix_unit.rows;
        joined.unified_buffer_rows = machine.unified_buffer.rows;
        joined.weight_memory_bytes = machine.weight_memory.bytes;
        const auto sets =
            compare_joins({builder.network(), joined.geometry.rows}, joined, machine, {}, JoinBlocks::Single);
        REQUIRE(sets.size() == 1);
        const std::uint32_t fill = machine.matrix_unit.columns / 16;
        const JoinAlternative& chosen = sets.front().alternatives[sets.front().chosen];
        CHECK(chosen.tiles == (layers + fill - 1) / fill);
        for (std::uint32_t l = 0; l < layers; ++l) CHECK(chosen.groups[l] == l / fill);
    }
    // Full tiles are never shared.
    ParallelBuilder full;
    machine::MachineConfig machine;
    for (int l = 0; l < 40; ++l) full.dense(0, machine.matrix_unit.columns);
    Target apart = target(machine.matrix_unit.columns);
    apart.geometry.rows = machine.matrix_unit.rows;
    apart.unified_buffer_rows = machine.unified_buffer.rows;
    apart.weight_memory_bytes = machine.weight_memory.bytes;
    const auto sets =
        compare_joins({full.network(), apart.geometry.rows}, apart, machine, {}, JoinBlocks::Single);
    CHECK(chosen_joins(sets, 40) == group_parallel_layers(full.network(), apart));
}

TEST_CASE("The last channels of a convolution may have blocks of their own", "[compiler][schedule]") {
    ParallelBuilder builder;
    builder.convolution(0, 9, {.kernel_width = 1});
    Target split = target(8);
    split.choices.rests = {{.first_channel = 8, .block = {.width = 4, .height = 2}}};
    const std::vector<LayerPlan> plans = plan_layers(analyse(builder.network(), split), split);
    REQUIRE(plans[0].parts.size() == 2);
    CHECK(plans[0].parts[0].grid == ir::FeatureMap{4, 4, 9});
    CHECK(plans[0].parts[1].grid == ir::FeatureMap{2, 1, 72});
    CHECK(plans[0].parts[1].columns == 8);
    // A window has three elements, one of 4 x 2 pixels has 24.
    CHECK(plans[0].tiling.tiles == 1 + 3);
    REQUIRE(plans[0].segments.size() == 2);
    CHECK(plans[0].segments[1] == std::vector<Segment>{{.layer = 0,
                                                        .first_column = 0,
                                                        .first_channel = 8,
                                                        .channels = 1,
                                                        .parameters_row = 0,
                                                        .block = {.width = 4, .height = 2}}});
}

TEST_CASE("More filters than can be counted are not joined", "[compiler][schedule][parallel]") {
    Network network;
    network.tensors = {{.name = "t0", .shape = {}},
                       {.name = "t1", .shape = {1, 1, 4294967295U}},
                       {.name = "t2", .shape = {1, 1, 1}}};
    MatrixProduct convolution;
    convolution.window = ir::Window{};
    for (const TensorId output : {1U, 2U}) {
        network.layers.push_back({.name = "l", .inputs = {0}, .output = output, .work = convolution});
    }
    CHECK(group_parallel_layers(network, target(4096)) == JoinedTo{0, 1});
    network.tensors[1].shape.channels -= 1;
    CHECK(group_parallel_layers(network, target(4096)) == JoinedTo{0, 0});
}

TEST_CASE("The text of a schedule shows joined convolutions, which stream pixels once",
          "[compiler][schedule][parallel]") {
    ParallelBuilder builder;
    const TensorId a = builder.convolution(0, 2);
    const TensorId between = builder.pool(a);
    const TensorId b = builder.convolution(0, 5);
    builder.concat({between, b});
    CHECK(to_text(make_schedule(builder.network(), target(4), {.batch = 1, .inferences = 1})) ==
          R"(network "made": 1 inferences in batches of 1
array 8 x 4, 64 accumulator rows, 4000 unified-buffer rows, 1048576 bytes of weight memory
batch slices of at most 1 images, transfers in turn
2 weight tiles, 34 unified-buffer rows in use, 10 of them constants
tensor "t0" from row 24, 6 rows an image
tensor "t1" from row 30, 4 rows an image
tensor "t2" in "t4" from byte 0 of its pixels
tensor "t3" in "t4" from byte 2 of its pixels
tensor "t4" from row 10, 14 rows an image
layer 1 "l1" convolution, 336 MACs
  column tile 0: joined channels 0..3, element tiles 0 = tiles 0
    columns 0..1: layer 1 channels 0..1, parameters in row 0
    columns 2..3: layer 3 channels 0..1, parameters in row 3
  column tile 1: joined channels 4..6, element tiles 0 = tiles 1
    columns 0..2: layer 3 channels 2..4, parameters in row 6
layer 2 "l2" max_pool, 0 MACs
layer 3 "l3" joined to l1, 0 MACs
layer 4 "l4" concat, 0 MACs
read input 0
read constants to rows 0..9
layer 1 convolve 4 lines from image 0 line 0, element tiles 0, fetched tiles 0, into accumulators from 0
layer 1 activate accumulators 0..15 as column tile 0, columns 0..1 to layer 1, image 0 from pixel 0
layer 1 activate accumulators 0..15 as column tile 0, columns 2..3 to layer 3, image 0 from pixel 0
layer 1 convolve 4 lines from image 0 line 0, element tiles 0, fetched tiles 1, into accumulators from 16
layer 1 activate accumulators 16..31 as column tile 1, columns 0..2 to layer 3, image 0 from pixel 0
layer 2 pool 4 lines from image 0 line 0
write output 0
)");
}

TEST_CASE("Joined convolutions write their results, and last read their input, in the first one's step",
          "[compiler][schedule][parallel]") {
    ParallelBuilder builder;
    const TensorId from = builder.pool(0);            // step 1
    const TensorId a = builder.convolution(from, 2);  // step 2
    const TensorId c = builder.convolution(a, 3);     // step 3
    const TensorId d = builder.convolution(a, 8);     // step 4
    const TensorId b = builder.convolution(from, 2);  // joined to a
    const TensorId e = builder.convolution(from, 4);  // on 4 columns joined to none
    const TensorId whole = builder.concat({d, b});    // step 7
    builder.convolution(whole, 1);                    // step 8
    const auto lifetimes = [&](std::uint32_t columns) {
        return tensor_lifetimes(analyse(builder.network(), target(columns)), target(columns), false);
    };
    const std::vector<schedule::Lifetime> joined = lifetimes(5);
    CHECK(joined[from] == schedule::Lifetime{.rows = 6, .first_step = 1, .last_step = 6});
    CHECK(joined[a] == schedule::Lifetime{.rows = 4, .first_step = 2, .last_step = 4});
    CHECK(joined[c] == schedule::Lifetime{.rows = 6, .first_step = 3, .last_step = 3});
    CHECK(joined[e] == schedule::Lifetime{.rows = 8, .first_step = 6, .last_step = 6});
    // The concatenated tensor: from its first part on, though that is made by its last part's layer.
    CHECK(joined[whole] == schedule::Lifetime{.rows = 20, .first_step = 2, .last_step = 8});
    // With e, too.
    const std::vector<schedule::Lifetime> all = lifetimes(16);
    CHECK(all[from].last_step == 2);
    CHECK(all[e] == schedule::Lifetime{.rows = 8, .first_step = 2, .last_step = 2});
    // 8 filters do not share an array of 2 columns with any, nor 2 and 2.
    const std::vector<schedule::Lifetime> apart = lifetimes(2);
    CHECK(apart[from].last_step == 6);
    CHECK(apart[whole].first_step == 4);
}

TEST_CASE("Output and next input are transferred after the first of the joined convolutions",
          "[compiler][schedule][parallel]") {
    ParallelBuilder builder;
    builder.convolution(0, 2);
    builder.convolution(1, 2);
    builder.network().outputs = {builder.convolution(0, 2)};
    const Schedule schedule = make_schedule(builder.network(), target(4), {.batch = 1, .inferences = 2});
    REQUIRE(schedule.memory.overlap_transfers);
    std::vector<std::string> order;
    for (const Operation& operation : schedule.operations) {
        if (const auto* read = std::get_if<ReadInput>(&operation))
            order.push_back("read " + std::to_string(read->first_inference));
        if (const auto* write = std::get_if<WriteOutput>(&operation))
            order.push_back("write " + std::to_string(write->first_inference));
        if (const auto* work = std::get_if<ConvolveLines>(&operation))
            order.push_back("convolve " + std::to_string(work->layer));
    }
    CHECK(order == std::vector<std::string>{"read 0", "convolve 0", "write 0", "read 1", "convolve 1",
                                            "convolve 0", "write 1", "convolve 1"});
}

TEST_CASE("Joined weights need the weight memory that they take together", "[compiler][schedule][parallel]") {
    ParallelBuilder builder;
    builder.convolution(0, 2);
    builder.convolution(0, 2);
    Target small = target(4);
    small.weight_memory_bytes = 32;
    CHECK(make_schedule(builder.network(), small, {}).weight_tiles == 1);
    small.weight_memory_bytes = 31;
    CHECK_THROWS_WITH(
        make_schedule(builder.network(), small, {}),
        "made: its weights take 1 tiles of 8 x 4 bytes, 32 bytes in all; the weight memory has 31 bytes, "
        "and weight_memory.spill is false");
}

TEST_CASE("Segments are each layer's channels once, in fewer tiles and no more activations than apart",
          "[compiler][schedule][parallel]") {
    const std::uint32_t first_seed = 4711;
    std::size_t joined = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(300); ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const Network network = tpu_v1::lower(tests::RandomNetwork(random).draw());
        const auto columns = static_cast<std::uint32_t>(random() % 30 + 1);
        const std::vector<LayerPlan> plans = plan_layers(analyse(network, target(columns)), target(columns));
        std::vector<std::uint32_t> next_channel(plans.size());
        for (std::uint32_t first = 0; first < plans.size(); ++first) {
            const LayerPlan& plan = plans[first];
            REQUIRE(plan.segments.size() == plan.tiling.columns.size());
            std::size_t segments = 0;
            std::size_t tiles_apart = 0;
            std::size_t members = 0;  // beside the first; each saves a column tile or more
            for (std::size_t j = 0; j < plan.segments.size(); ++j) {
                std::uint32_t next_column = 0;
                for (const Segment& segment : plan.segments[j]) {
                    CHECK(segment.first_column == next_column);
                    CHECK(segment.first_channel == next_channel[segment.layer]);
                    CHECK(plans[segment.layer].joined_to.value_or(segment.layer) == first);
                    next_column += segment.channels;
                    next_channel[segment.layer] += segment.channels;
                    ++segments;
                }
                CHECK(next_column == plan.tiling.columns[j].channels);
            }
            for (std::uint32_t l = first; l < plans.size(); ++l) {
                if (plan.segments.empty() || plans[l].joined_to.value_or(l) != first) continue;
                const std::uint32_t channels = network.tensors[network.layers[l].output].shape.channels;
                CHECK(next_channel[l] == channels);
                tiles_apart += column_tiles(channels, columns);
                if (l == first) continue;
                ++members;
                CHECK(plans[l].tiling == Tiling{});
                CHECK(plans[l].macs == 0);
            }
            joined += members;
            CHECK(segments <= tiles_apart);
            CHECK(plan.segments.size() + members <= tiles_apart);
        }
    }
    CHECK(joined >= tests::random_share(51));
}

}  // namespace systole::tpu_v1
