#include "compiler/target/tpu_v1/choose/strips.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "compiler/target/tpu_v1/choose/cut_network.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "tests/support/network_builder.h"
#include "tests/support/random_layers.h"
#include "tests/support/random_runs.h"

namespace systole::tpu_v1 {
namespace {

using tests::between;
using tests::NetworkBuilder;
using Kind = StripStep::Kind;

constexpr ir::Window window_3x3{
    .kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};
constexpr ir::Window halves{.kernel_height = 2, .kernel_width = 2, .stride_y = 2, .stride_x = 2};

/// Rows of eight bytes.
Target target_of_eight() {
    return {.geometry = {.rows = 8, .columns = 8}, .accumulator_rows = 64};
}

Homes homes_without_spills(const AnalysedNetwork& analysed) {
    return homes_of(analysed, std::vector<bool>(analysed.uses.size(), false));
}

/// A window of any size, with strides, dilation and padding up to more than it covers, and an input height
/// that it fits.
struct AnyWindow {
    explicit AnyWindow(std::mt19937& random) {
        window.kernel_height = between(random, 1, 4);
        window.stride_y = between(random, 1, 4);
        window.dilation_y = between(random, 1, 3);
        const auto covered =
            static_cast<std::uint32_t>(ir::covered_extent(window.kernel_height, window.dilation_y));
        window.pad_top = between(random, 0, covered + 1);
        window.pad_bottom = between(random, 0, covered + 1);
        height = between(random, 1, 12);
        if (height + window.pad_top + window.pad_bottom < covered) height = covered;
        lines = ir::window_output({height, 1, 1}, window, 1).height;
    }

    /// Any lines of the output.
    Lines strip(std::mt19937& random) const {
        const std::uint32_t first = between(random, 0, lines - 1);
        return {first, between(random, first + 1, lines)};
    }
    /// The line of an element of an output line's window; outside of the image for those in the padding.
    std::int64_t line_of(std::uint32_t output, std::uint32_t element) const {
        return std::int64_t{output} * window.stride_y - window.pad_top +
               std::int64_t{element} * window.dilation_y;
    }

    ir::Window window;
    std::uint32_t height = 0;
    std::uint32_t lines = 0;  ///< of the output
};

/// Lines of a 16 x 4 x 8 image, of four rows each: two convolutions.
NetworkBuilder two_convolutions() {
    NetworkBuilder builder({16, 4, 8});
    builder.convolution(builder.convolution(0, 8, window_3x3), 8, window_3x3);
    return builder;
}

std::vector<StripStep> steps_of_kind(const Strip& strip, Kind kind) {
    std::vector<StripStep> steps;
    for (const StripStep& step : strip.steps) {
        if (step.kind == kind) steps.push_back(step);
    }
    return steps;
}

}  // namespace

TEST_CASE("The uses of a tensor are its maker, its readers on the chip, and the host at either end",
          "[compiler][schedule][strips]") {
    NetworkBuilder builder({4, 4, 8});
    const TensorId made = builder.convolution(0, 8);        // layer 0
    const TensorId twice = builder.sum(made, made);         // layer 1
    const TensorId host = builder.host({made}, {4, 4, 8});  // layer 2
    const TensorId last = builder.sum(twice, host);         // layer 3
    const AnalysedNetwork analysed = analyse(builder.network(), target_of_eight());
    CHECK_FALSE(analysed.uses[0].maker.has_value());
    CHECK(analysed.uses[0].begins_in_host);
    CHECK_FALSE(ends_in_host(analysed.uses[0]));
    CHECK(analysed.uses[0].chip_readers == std::vector<std::uint32_t>{0});
    CHECK(analysed.uses[made].maker == 0U);
    CHECK_FALSE(analysed.uses[made].begins_in_host);
    CHECK(ends_in_host(analysed.uses[made]));                                  // the segment reads it
    CHECK(analysed.uses[made].chip_readers == std::vector<std::uint32_t>{1});  // once, and without the host
    CHECK(analysed.uses[host].begins_in_host);
    CHECK(analysed.uses[host].maker == 2U);
    CHECK(analysed.uses[host].chip_readers == std::vector<std::uint32_t>{3});
    CHECK_FALSE(analysed.uses[twice].begins_in_host);
    CHECK_FALSE(ends_in_host(analysed.uses[twice]));
    CHECK(ends_in_host(analysed.uses[last]));
    CHECK(first_layer(analysed, 0) == 0);
    CHECK(first_layer(analysed, twice) == 1);
    CHECK(last_layer(analysed, made) == 1);
    CHECK(last_layer(analysed, twice) == 3);
    CHECK(last_layer(analysed, last) == 3);  // that which makes it
}

TEST_CASE("A tensor takes the rows of its bytes, and a 16-bit one that a dense layer reads pairs of rows",
          "[compiler][schedule][strips]") {
    NetworkBuilder bytes({3, 3, 3});
    bytes.dense(0, 5);
    const AnalysedNetwork of_bytes = analyse(bytes.network(), target_of_eight());
    CHECK(of_bytes.own_rows[0] == 4);  // 27 bytes
    CHECK(of_bytes.own_rows[1] == 1);
    CHECK(line_bytes(of_bytes.network().tensors[0]) == 9);
    NetworkBuilder pairs({3, 3, 1}, DataType::Int16);
    pairs.dense(0, 5);
    const AnalysedNetwork of_pairs = analyse(pairs.network(), target_of_eight());
    CHECK(of_pairs.own_rows[0] == 4);  // 18 bytes are three rows; nine elements are two pairs
    CHECK(of_pairs.own_rows[1] == 2);
    CHECK(line_bytes(of_pairs.network().tensors[0]) == 6);
    NetworkBuilder windows({3, 3, 1}, DataType::Int16);
    windows.convolution(0, 5);
    CHECK(analyse(windows.network(), target_of_eight()).own_rows[0] == 3);
}

TEST_CASE("A tensor lives until the last layer that reads a slice of it", "[compiler][schedule][strips]") {
    NetworkBuilder builder({4, 4, 8});
    const TensorId whole = builder.lookup(0);                   // layer 0
    const TensorId slice = builder.slice(whole, 0, {2, 4, 8});  // layer 1
    const TensorId inner = builder.slice(slice, 0, {1, 4, 8});  // layer 2
    builder.lookup(whole);                                      // layer 3
    builder.lookup(slice);                                      // layer 4
    builder.lookup(inner);                                      // layer 5
    const AnalysedNetwork analysed = analyse(builder.network(), target_of_eight());
    CHECK(last_layer(analysed, inner) == 5);
    CHECK(last_layer(analysed, slice) == 5);
    CHECK(last_layer(analysed, whole) == 5);
}

TEST_CASE("Parts of a concatenated tensor have its rows", "[compiler][schedule][strips]") {
    NetworkBuilder builder({4, 4, 8});
    const TensorId part = builder.convolution(0, 3);
    const TensorId copied = builder.lookup(0);
    const TensorId whole = builder.concat({part, copied});
    const AnalysedNetwork analysed = analyse(builder.network(), target_of_eight());
    CHECK(with_rows(analysed, part) == whole);
    CHECK(with_rows(analysed, copied) == copied);
    CHECK(with_rows(analysed, whole) == whole);
}

TEST_CASE("What begins or ends in host memory or is spilled has a place there, the rest is on the chip",
          "[compiler][schedule][strips]") {
    NetworkBuilder builder({4, 4, 8});
    const TensorId made = builder.convolution(0, 8);
    const TensorId kept = builder.sum(made, made);
    builder.sum(kept, kept);
    const AnalysedNetwork analysed = analyse(builder.network(), target_of_eight());
    CHECK(homes_without_spills(analysed).on_chip == std::vector<bool>{false, true, true, true});
    CHECK(homes_without_spills(analysed).in_host == std::vector<bool>{true, false, false, true});
    const Homes spilled = homes_of(analysed, {false, true, false, false});
    CHECK(spilled.on_chip == std::vector<bool>{false, false, true, true});
    CHECK(spilled.in_host == std::vector<bool>{true, true, false, true});
}

TEST_CASE("A run leaves a tensor where a later run or the host looks for it",
          "[compiler][schedule][strips]") {
    NetworkBuilder builder({4, 4, 8});
    const TensorId inside = builder.convolution(0, 8);   // layer 0
    const TensorId later = builder.sum(inside, inside);  // layer 1
    const TensorId last = builder.sum(later, later);     // layer 2
    const AnalysedNetwork analysed = analyse(builder.network(), target_of_eight());
    const LayerRun first{.first = 0, .end = 2};
    const LayerRun second{.first = 2, .end = 3};
    const Homes homes = homes_without_spills(analysed);
    CHECK_FALSE(leaves_on_chip(analysed, homes, first, inside));
    CHECK_FALSE(leaves_in_host(analysed, homes, first, inside));
    CHECK(leaves_on_chip(analysed, homes, first, later));
    CHECK_FALSE(leaves_in_host(analysed, homes, first, later));
    CHECK_FALSE(leaves_on_chip(analysed, homes, second, last));
    CHECK(leaves_in_host(analysed, homes, second, last));
    // Spilled tensors that nothing behind the run reads stay nowhere.
    const Homes spilled = homes_of(analysed, {false, true, true, false});
    CHECK_FALSE(leaves_on_chip(analysed, spilled, first, later));
    CHECK(leaves_in_host(analysed, spilled, first, later));
    CHECK_FALSE(leaves_in_host(analysed, spilled, first, inside));
}

TEST_CASE("Only layers whose lines need some lines of their input are cut", "[compiler][schedule][strips]") {
    NetworkBuilder builder({16, 4, 8});
    const TensorId made = builder.convolution(0, 8, window_3x3);
    const TensorId sum = builder.sum(made, 0);
    const TensorId pooled = builder.pool(sum, halves);
    builder.lookup(pooled);
    builder.concat({made, sum});
    builder.concat_lines({made, sum});
    builder.dense(pooled, 5);
    builder.host({pooled}, {8, 2, 8});
    builder.slice(pooled, 0, {4, 2, 8});
    builder.lookup(pooled);
    builder.network().tensors.back().shape = {2, 8, 8};  // as many elements in another shape
    const AnalysedNetwork analysed = analyse(builder.network(), target_of_eight());
    CHECK(can_be_cut(analysed, 0));        // a convolution
    CHECK(can_be_cut(analysed, 1));        // a sum of two images of one shape
    CHECK(can_be_cut(analysed, 2));        // pooling
    CHECK(can_be_cut(analysed, 3));        // a lookup
    CHECK(can_be_cut(analysed, 4));        // a concatenation of channels
    CHECK_FALSE(can_be_cut(analysed, 5));  // of lines
    CHECK_FALSE(can_be_cut(analysed, 6));  // a dense layer
    CHECK_FALSE(can_be_cut(analysed, 7));  // the host
    CHECK_FALSE(can_be_cut(analysed, 8));  // a slice
    CHECK_FALSE(can_be_cut(analysed, 9));  // a lookup whose lines are others than its input's
}

TEST_CASE("Lines are computed from the lines of their windows", "[compiler][schedule][strips]") {
    const std::uint32_t first_seed = 3100;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(2000); ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const AnyWindow any(random);
        NetworkBuilder builder({any.height, 1, 1});
        if (any.window.dilation_y == 1 && between(random, 0, 1) == 0) {
            builder.pool(0, any.window);
        } else {
            builder.convolution(0, 1, any.window);
        }
        const Lines strip = any.strip(random);
        const Lines read = lines_read(analyse(builder.network(), target_of_eight()), 0, 0, strip);
        // From the first element to the last one of all windows, as far as they are in the image.
        std::int64_t first = std::numeric_limits<std::int64_t>::max();
        std::int64_t last = std::numeric_limits<std::int64_t>::min();
        for (std::uint32_t line = strip.first; line < strip.end; ++line) {
            for (std::uint32_t element = 0; element < any.window.kernel_height; ++element) {
                first = std::min(first, any.line_of(line, element));
                last = std::max(last, any.line_of(line, element));
            }
        }
        const std::int64_t height = any.height;
        if (last < 0 || first >= height) {
            CHECK(read.count() == 1);  // the windows see padding alone
            CHECK(read.end <= any.height);
        } else {
            CHECK(read.first == std::max<std::int64_t>(first, 0));
            CHECK(read.end == std::min(last + 1, height));
        }
    }
}

TEST_CASE("Element-wise work and concatenations read the lines that they write",
          "[compiler][schedule][strips]") {
    NetworkBuilder builder({6, 4, 8});
    builder.concat({builder.sum(0, 0), 0});
    const AnalysedNetwork analysed = analyse(builder.network(), target_of_eight());
    for (const std::uint32_t layer : {0U, 1U}) {
        for (const std::size_t input : {0U, 1U}) {
            CHECK(lines_read(analysed, layer, input, {.first = 2, .end = 5}) == Lines{.first = 2, .end = 5});
        }
    }
}

TEST_CASE("A strip's window has the padding that its input lacks", "[compiler][schedule][strips]") {
    const ir::Window window{.kernel_height = 3, .stride_y = 2, .pad_top = 4, .pad_bottom = 9};
    // Output line l reads lines 2 l - 4 to 2 l - 2 of ten.
    const auto strip = [&](const Lines& input, const Lines& output) {
        const ir::Window own = window_of_strip(window, input, output, 10);
        return std::pair(own.pad_top, own.pad_bottom);
    };
    using Pads = std::pair<std::uint32_t, std::uint32_t>;
    CHECK(strip({0, 1}, {0, 1}) == Pads{4, 0});  // above the image
    CHECK(strip({0, 3}, {1, 3}) == Pads{2, 0});
    CHECK(strip({2, 7}, {3, 5}) == Pads{0, 0});
    CHECK(strip({6, 10}, {5, 8}) == Pads{0, 3});
    CHECK(strip({9, 10}, {7, 9}) == Pads{5, 0});  // below the image: the padding above is as good
}

TEST_CASE("A strip's window sees the elements that the layer's window sees", "[compiler][schedule][strips]") {
    const std::uint32_t first_seed = 3200;
    std::uint32_t in_padding = 0, inside = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(2000); ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const AnyWindow any(random);
        NetworkBuilder builder({any.height, 1, 1});
        builder.convolution(0, 1, any.window);
        const Lines strip = any.strip(random);
        const Lines input = lines_read(analyse(builder.network(), target_of_eight()), 0, 0, strip);
        const ir::Window own = window_of_strip(any.window, input, strip, any.height);
        for (std::uint32_t line = strip.first; line < strip.end; ++line) {
            for (std::uint32_t element = 0; element < own.kernel_height; ++element) {
                const std::int64_t whole = any.line_of(line, element);
                const std::int64_t of_strip = std::int64_t{line - strip.first} * own.stride_y - own.pad_top +
                                              std::int64_t{element} * own.dilation_y;
                const bool is_inside = whole >= 0 && whole < std::int64_t{any.height};
                const bool is_in_strip = of_strip >= 0 && of_strip < std::int64_t{input.count()};
                REQUIRE(is_in_strip == is_inside);
                if (is_inside) REQUIRE(of_strip + input.first == whole);
                ++(is_inside ? inside : in_padding);
            }
        }
        // There are as many windows as the strip has lines, or more, which it does not compute.
        CHECK(ir::window_output({input.count(), 1, 1}, own, 1).height >= strip.count());
        ir::Window same = own;
        same.pad_top = any.window.pad_top;
        same.pad_bottom = any.window.pad_bottom;
        CHECK(same == any.window);
    }
    CHECK(in_padding >= tests::random_share(1000));
    CHECK(inside >= tests::random_share(1000));
}

TEST_CASE("A strip fetches what its first layer reads and computes again what its neighbours need",
          "[compiler][schedule][strips]") {
    NetworkBuilder builder = two_convolutions();
    const AnalysedNetwork analysed = analyse(builder.network(), target_of_eight());
    const Homes homes = homes_without_spills(analysed);
    const LayerRun run{.first = 0, .end = 2, .strips = 2};
    struct Expected {
        Lines input, between, output;
    };
    // Eight lines of the output, one more of what lies between, and two of the input.
    const Expected expected[] = {{{0, 10}, {0, 9}, {0, 8}}, {{6, 16}, {7, 16}, {8, 16}}};
    for (const std::uint32_t number : {0U, 1U}) {
        CAPTURE(number);
        const std::optional<Strip> strip = plan_strip(analysed, homes, run, number);
        REQUIRE(strip.has_value());
        REQUIRE(strip->pieces.size() == 3);
        CHECK(strip->pieces[0].lines == expected[number].input);
        CHECK(strip->pieces[1].lines == expected[number].between);
        CHECK(strip->pieces[2].lines == expected[number].output);
        for (std::size_t piece = 0; piece < 3; ++piece) {
            CHECK(strip->pieces[piece].tensor == piece);
            CHECK_FALSE(strip->pieces[piece].is_resident);
            CHECK_FALSE(strip->pieces[piece].view_of.has_value());
        }
        REQUIRE(strip->steps.size() == 4);
        CHECK(strip->steps[0].kind == Kind::Fetch);
        CHECK(strip->steps[0].output == 0);
        CHECK(strip->steps[0].host_tensor == 0);
        CHECK(strip->steps[0].first_element == expected[number].input.first * 4 * 8);
        for (const std::uint32_t layer : {0U, 1U}) {
            CHECK(strip->steps[1 + layer].kind == Kind::Compute);
            CHECK(strip->steps[1 + layer].layer == layer);
            CHECK(strip->steps[1 + layer].inputs == std::vector<std::size_t>{layer});
            CHECK(strip->steps[1 + layer].output == layer + 1);
        }
        CHECK(strip->steps[3].kind == Kind::Send);
        CHECK(strip->steps[3].inputs == std::vector<std::size_t>{2});
        CHECK(strip->steps[3].host_tensor == 2);
        CHECK(strip->steps[3].first_element == expected[number].output.first * 4 * 8);
        CHECK(strip->kept.empty());
        // Four rows a line: the input beside what lies between, then that beside the output.
        const std::uint64_t between_rows = expected[number].between.count() * std::uint64_t{4};
        CHECK(rows_of_strip(analysed, run, *strip) ==
              std::vector<std::uint64_t>{10 * 4 + between_rows, between_rows + 8 * 4});
    }
}

TEST_CASE("A whole run computes whole tensors, which stay in their place", "[compiler][schedule][strips]") {
    NetworkBuilder builder = two_convolutions();
    builder.sum(1, 2);
    const AnalysedNetwork analysed = analyse(builder.network(), target_of_eight());
    const Homes homes = homes_without_spills(analysed);
    const auto first = plan_strip(analysed, homes, {.first = 0, .end = 2}, 0);
    REQUIRE(first.has_value());
    REQUIRE(first->pieces.size() == 3);
    for (const StripPiece& piece : first->pieces) CHECK(piece.lines == Lines{.first = 0, .end = 16});
    CHECK_FALSE(first->pieces[0].is_resident);  // fetched for the run
    CHECK(first->pieces[1].is_resident);
    CHECK(first->pieces[2].is_resident);
    CHECK(first->kept.empty());
    CHECK(steps_of_kind(*first, Kind::Send).empty());
    CHECK(rows_of_strip(analysed, {.first = 0, .end = 2}, *first) == std::vector<std::uint64_t>{64, 0});
    const auto second = plan_strip(analysed, homes, {.first = 2, .end = 3}, 0);
    REQUIRE(second.has_value());
    REQUIRE(second->pieces.size() == 3);
    CHECK(steps_of_kind(*second, Kind::Fetch).empty());
    CHECK(steps_of_kind(*second, Kind::Send).size() == 1);
}

TEST_CASE("Strips of a tensor on the chip are views of it", "[compiler][schedule][strips]") {
    NetworkBuilder builder = two_convolutions();
    const AnalysedNetwork analysed = analyse(builder.network(), target_of_eight());
    const LayerRun second{.first = 1, .end = 2, .strips = 4};
    const auto strip = plan_strip(analysed, homes_without_spills(analysed), second, 1);
    REQUIRE(strip.has_value());
    REQUIRE(strip->pieces.size() == 3);
    CHECK(strip->pieces[0].is_resident);
    CHECK(strip->pieces[0].lines == Lines{.first = 0, .end = 16});
    CHECK(strip->pieces[1].view_of == 0U);
    CHECK(strip->pieces[1].lines == Lines{.first = 3, .end = 9});
    CHECK(strip->pieces[2].lines == Lines{.first = 4, .end = 8});
    REQUIRE(strip->steps.size() == 3);
    CHECK(strip->steps[0].kind == Kind::View);
    CHECK(strip->steps[0].first_element == 3 * 4 * 8);
    // The view takes no rows, and resident tensors are not counted.
    CHECK(rows_of_strip(analysed, second, *strip) == std::vector<std::uint64_t>{4 * 4});
}

TEST_CASE("A run leaves the lines of its strips in the tensor on the chip", "[compiler][schedule][strips]") {
    NetworkBuilder builder = two_convolutions();
    const AnalysedNetwork analysed = analyse(builder.network(), target_of_eight());
    const LayerRun first{.first = 0, .end = 1, .strips = 3};
    const Lines lines[] = {{0, 6}, {6, 11}, {11, 16}};  // larger ones first
    for (std::uint32_t number = 0; number < 3; ++number) {
        const auto strip = plan_strip(analysed, homes_without_spills(analysed), first, number);
        REQUIRE(strip.has_value());
        REQUIRE(strip->kept.size() == 1);
        CHECK(strip->pieces[strip->kept[0]].tensor == 1);
        CHECK(strip->pieces[strip->kept[0]].lines == lines[number]);
        CHECK(steps_of_kind(*strip, Kind::Send).empty());
        // The lines are written where they stay; only the input's take rows of the strip.
        const std::uint64_t read = number == 1 ? 7 : number == 0 ? 7 : 6;
        CHECK(rows_of_strip(analysed, first, *strip) == std::vector<std::uint64_t>{read * 4});
    }
}

TEST_CASE("A strip fetches the lines that several layers read once, if all can be read from there",
          "[compiler][schedule][strips]") {
    // The convolution reads a line above and a line below those of the lookup.
    const auto fetched = [](std::uint32_t channels) {
        NetworkBuilder builder({8, 3, channels});
        const TensorId a = builder.convolution(0, channels, window_3x3);
        builder.sum(a, builder.lookup(0));
        const AnalysedNetwork analysed = analyse(builder.network(), target_of_eight());
        const LayerRun run{.first = 0, .end = 3, .strips = 4};
        const auto strip = plan_strip(analysed, homes_without_spills(analysed), run, 1);
        REQUIRE(strip.has_value());
        std::vector<Lines> lines;
        for (const StripStep& step : steps_of_kind(*strip, Kind::Fetch)) {
            lines.push_back(strip->pieces[step.output].lines);
        }
        return lines;
    };
    CHECK(fetched(8) == std::vector<Lines>{{.first = 1, .end = 5}});
    // Of lines of twelve bytes, every second one begins a row.
    CHECK(fetched(4) == std::vector<Lines>{{.first = 1, .end = 5}, {.first = 2, .end = 4}});
}

TEST_CASE("A strip that needs lines from inside a row of a tensor on the chip cannot be planned",
          "[compiler][schedule][strips]") {
    // Lines of twelve bytes: every second one begins a row.
    NetworkBuilder builder({8, 3, 4});
    builder.sum(builder.lookup(0), 1);
    const AnalysedNetwork analysed = analyse(builder.network(), target_of_eight());
    const Homes homes = homes_without_spills(analysed);
    const auto is_possible = [&](std::uint32_t strips, std::uint32_t number, const Homes& where) {
        return plan_strip(analysed, where, {.first = 1, .end = 2, .strips = strips}, number).has_value();
    };
    CHECK(is_possible(8, 0, homes));
    CHECK_FALSE(is_possible(8, 1, homes));
    CHECK(is_possible(8, 2, homes));
    CHECK(is_possible(4, 1, homes));
    // From host memory, lines are fetched to the beginning of a row.
    CHECK(is_possible(8, 1, homes_of(analysed, {false, true, false})));
    // What stays on the chip is cut at rows, if there are enough.
    const LayerRun first{.first = 0, .end = 1, .strips = 3};
    const Lines lines[] = {{0, 4}, {4, 6}, {6, 8}};
    for (std::uint32_t number = 0; number < 3; ++number) {
        const auto strip = plan_strip(analysed, homes, first, number);
        REQUIRE(strip.has_value());
        CHECK(strip->pieces[strip->kept.at(0)].lines == lines[number]);
    }
}

TEST_CASE("The strips of a run send or keep each line of its last output once, in order",
          "[compiler][schedule][strips]") {
    const std::uint32_t first_seed = 3300;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(300); ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const std::uint32_t height = between(random, 4, 24);
        NetworkBuilder builder({height, 2, 4});
        TensorId last = 0;
        const std::uint32_t layers = between(random, 1, 3);
        while (builder.network().layers.size() < layers) {
            const bool pools = between(random, 0, 3) == 0 && builder.shape(last).height >= 4;
            last = pools ? builder.pool(last, {.kernel_height = 2, .stride_y = 2})
                         : builder.convolution(last, 4, window_3x3);
        }
        const bool stays = between(random, 0, 1) == 0;
        if (stays) builder.lookup(last);
        const AnalysedNetwork analysed = analyse(builder.network(), target_of_eight());
        const Homes homes = homes_without_spills(analysed);
        const std::uint32_t lines = builder.shape(last).height;
        const LayerRun run{.first = 0, .end = layers, .strips = between(random, 2, lines)};
        std::uint32_t next = 0;
        for (std::uint32_t number = 0; number < run.strips; ++number) {
            const auto strip = plan_strip(analysed, homes, run, number);
            REQUIRE(strip.has_value());
            std::vector<std::size_t> left = strip->kept;
            for (const StripStep& step : steps_of_kind(*strip, Kind::Send)) left.push_back(step.inputs[0]);
            CHECK(strip->kept.empty() != stays);
            REQUIRE(left.size() == 1);
            const StripPiece& piece = strip->pieces[left[0]];
            CHECK(piece.tensor == last);
            CHECK(piece.lines.first == next);
            CHECK(piece.lines.count() > 0);
            next = piece.lines.end;
        }
        CHECK(next == lines);
    }
}

TEST_CASE("A strip takes the rows that its layers take on the chip", "[compiler][schedule][strips]") {
    const std::uint32_t first_seed = 3400;
    std::size_t concatenations = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(200); ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        NetworkBuilder builder({between(random, 4, 16), 2, 4});
        std::vector<TensorId> made{0};
        const std::uint32_t layers = between(random, 1, 6);
        while (builder.network().layers.size() < layers) {
            const TensorId from = made[random() % made.size()];
            TensorId other = made[random() % made.size()];
            switch (between(random, 0, 3)) {
                case 0:
                    made.push_back(builder.lookup(from));
                    break;
                case 1:
                    if (builder.shape(other) != builder.shape(from)) other = from;
                    made.push_back(builder.sum(from, other));
                    break;
                case 2:
                    made.push_back(builder.concat({from, other}));
                    ++concatenations;
                    break;
                default:
                    made.push_back(builder.convolution(from, between(random, 1, 2) * 4, window_3x3));
            }
        }
        // All layers in one run, of which the host has the input and the output.
        const AnalysedNetwork analysed = analyse(builder.network(), target_of_eight());
        const Homes homes = homes_without_spills(analysed);
        const LayerRun run{.first = 0, .end = layers, .strips = between(random, 2, builder.shape(0).height)};
        std::uint64_t most = 0;
        for (std::uint32_t number = 0; number < run.strips; ++number) {
            const auto strip = plan_strip(analysed, homes, run, number);
            REQUIRE(strip.has_value());
            const std::vector<std::uint64_t> rows = rows_of_strip(analysed, run, *strip);
            REQUIRE(rows.size() == layers);
            most = std::max(most, *std::ranges::max_element(rows));
        }
        // Of strips, no layers are joined.
        Target apart = target_of_eight();
        apart.mapping.join_convolutions = false;
        const CutNetwork cut = cut_network(analysed, homes, {run});
        const Schedule schedule = plan_schedule(analyse(cut.network, apart), apart, {});
        CHECK(schedule.memory.least_rows - schedule.constant_rows == most);
    }
    CHECK(concatenations >= tests::random_share(100));
}

}  // namespace systole::tpu_v1
