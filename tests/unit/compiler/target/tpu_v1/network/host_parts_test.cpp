#include "compiler/target/tpu_v1/network/host_parts.h"

#include <catch2/catch.hpp>

#include "compiler/target/tpu_v1/network/tensor_parts.h"
#include "compiler/target/tpu_v1/schedule/memory_plan.h"
#include "tests/support/mapping_layers.h"

namespace systole::tpu_v1 {
namespace {

Tensor vector_of(std::uint32_t elements) {
    return {.name = "v", .shape = {1, 1, elements}, .type = DataType::Int16};
}

/// Tensor 0, of 12 elements, in slices 1 (last four), 2 (first four) and 3 (middle four); 4 = 2 + 3 is made
/// first, 5 = 4 + 1 then, and 6 is 5 behind 4.
Network recurrent() {
    Network network;
    network.name = "recurrent";
    network.tensors = {vector_of(12), vector_of(4), vector_of(4), vector_of(4),
                       vector_of(4),  vector_of(4), vector_of(8)};
    network.layers = {{.name = "late", .inputs = {0}, .output = 1, .work = Slice{.first_element = 8}},
                      {.name = "a", .inputs = {0}, .output = 2, .work = Slice{.first_element = 0}},
                      {.name = "b", .inputs = {0}, .output = 3, .work = Slice{.first_element = 4}},
                      {.name = "first", .inputs = {2, 3}, .output = 4, .work = tests::addition()},
                      {.name = "second", .inputs = {4, 1}, .output = 5, .work = tests::addition()},
                      {.name = "state", .inputs = {5, 4}, .output = 6, .work = Concatenation{}}};
    network.inputs = {0};
    network.outputs = {6};
    return network;
}

}  // namespace

TEST_CASE("An input of which only slices are read is transferred slice by slice, in the order of reading",
          "[compiler][schedule]") {
    CHECK(analyse(recurrent(), {}).inputs ==
          std::vector<HostPart>{{.whole = 0, .tensor = 2, .first_byte = 0, .layer = 3},
                                {.tensor = 3, .first_byte = 8, .layer = 3},
                                {.tensor = 1, .first_byte = 16, .layer = 4}});
    Network whole = recurrent();
    whole.layers[3].inputs = {2, 0};  // reads all of the input
    CHECK(analyse(whole, {}).inputs == std::vector<HostPart>{{.tensor = 0, .first_byte = 0, .layer = 0}});
}

TEST_CASE("An output of concatenated vectors is transferred vector by vector, as they are computed",
          "[compiler][schedule]") {
    CHECK(analyse(recurrent(), {}).outputs ==
          std::vector<HostPart>{{.whole = 6, .tensor = 4, .first_byte = 8, .layer = 3},
                                {.whole = 6, .tensor = 5, .first_byte = 0, .layer = 4}});
    Network plain = recurrent();
    plain.layers.pop_back();
    plain.outputs = {5};
    CHECK(analyse(plain, {}).outputs ==
          std::vector<HostPart>{{.whole = 5, .tensor = 5, .first_byte = 0, .layer = 4}});
    Network pixels = recurrent();
    for (Tensor& tensor : pixels.tensors) tensor.shape.height = 2;
    CHECK(analyse(pixels, {}).outputs.front().tensor == 6);
}

TEST_CASE("A tensor that the host moves in parts has no rows of its own", "[compiler][schedule]") {
    const Network network = recurrent();
    const Target target{.geometry = {.rows = 8, .columns = 4}};
    const std::vector<schedule::Lifetime> lifetimes =
        tensor_lifetimes(analyse(network, target), target, false);
    CHECK(lifetimes[0].rows == 0);
    CHECK(lifetimes[6].rows == 0);
    CHECK(lifetimes[1] == schedule::Lifetime{.rows = 1, .first_step = 0, .last_step = 5});
    CHECK(lifetimes[4].last_step == 7);
    CHECK(lifetimes[5].last_step == 7);
    const std::vector<TensorPart> parts = analyse(network, {}).parts;
    for (TensorId id = 1; id <= 5; ++id) CHECK(parts[id] == TensorPart{.whole = id});
}

TEST_CASE("Inputs and outputs that only the host has are not transferred", "[compiler][schedule]") {
    // The host makes 1 from the input, the chip 2 from 1, the host 3 from 2 and the input; 2 and 3 are
    // outputs.
    Network network;
    network.name = "host";
    for (const char* name : {"in", "a", "b", "c"}) {
        network.tensors.push_back({.name = name, .shape = {1, 1, 8}});
    }
    network.layers = {{.name = "first", .inputs = {0}, .output = 1, .work = HostSegment{}, .outputs = {1}},
                      {.name = "table", .inputs = {1}, .output = 2, .work = tests::lookup()},
                      {.name = "last", .inputs = {2, 0}, .output = 3, .work = HostSegment{}, .outputs = {3}}};
    network.outputs = {2, 3};
    CHECK(analyse(network, {}).inputs.empty());
    CHECK(analyse(network, {}).outputs ==
          std::vector<HostPart>{{.whole = 2, .tensor = 2, .first_byte = 0, .layer = 1}});
    const Target narrow{.geometry = {.rows = 8, .columns = 4}};
    std::vector<bool> begins_in_host, read_by_chip;
    std::vector<std::optional<std::uint32_t>> first_segments;
    const AnalysedNetwork analysed = analyse(network, narrow);
    for (const mapping::TensorUse& use : analysed.uses) {
        begins_in_host.push_back(use.begins_in_host);
        read_by_chip.push_back(!use.chip_readers.empty());
        first_segments.push_back(use.first_segment);
    }
    CHECK(begins_in_host == std::vector<bool>{true, true, false, true});
    CHECK(read_by_chip == std::vector<bool>{false, true, false, false});
    CHECK(first_segments == std::vector<std::optional<std::uint32_t>>{0, std::nullopt, 2, std::nullopt});
    const std::vector<schedule::Lifetime> lifetimes =
        tensor_lifetimes(analyse(network, narrow), narrow, false);
    CHECK(lifetimes[0].rows == 0);
    CHECK(lifetimes[1] == schedule::Lifetime{.rows = 1, .first_step = 1, .last_step = 2});
    CHECK(lifetimes[2] == schedule::Lifetime{.rows = 1, .first_step = 2, .last_step = 4});
    CHECK(lifetimes[3].rows == 0);
    // The input goes to the chip, too, if the chip reads it.
    network.layers[1].inputs = {0};
    CHECK(analyse(network, {}).inputs ==
          std::vector<HostPart>{{.whole = 0, .tensor = 0, .first_byte = 0, .layer = 1}});
}

}  // namespace systole::tpu_v1
