#include "sim/view/report/batching.h"

#include <catch2/catch.hpp>

using namespace systole;

namespace {

machine::BatchFacts cut(double fitting_images_a_fetch) {
    return {.images = 5000,
            .at_a_time = 2500,
            .that_fit = 2968,
            .grouped_layers = 0,
            .group = 0,
            .rows_a_fetch = 2048,
            .images_a_fetch = 1250.0,
            .fitting_batch = 2048,
            .fitting_images_a_fetch = fitting_images_a_fetch};
}

}  // namespace

TEST_CASE("A batch that fits needs no words", "[report]") {
    const report::Batching batching =
        report::make_batching(256, {.images = 256, .at_a_time = 256, .that_fit = 2968});
    CHECK(batching.slices == 1);
    CHECK(batching.text.empty());
    CHECK(report::to_json(batching)["limit"] == 2968);
}

TEST_CASE("A batch that is cut says by which memory, what it costs, and what is better", "[report]") {
    const report::Batching batching = report::make_batching(5000, cut(2048.0));
    CHECK(batching.slices == 2);
    CHECK(batching.text ==
          "the unified buffer holds 2,968 images, so 5,000 go through in 2 slices; each slice, and in some "
          "layers each "
          "2,048 rows "
          "of it (half of the accumulators), fetches the weights again: a tile for 1,250 images here, for "
          "2,048 "
          "with --batch 2048");
    CHECK_THAT(report::make_batching(5000, cut(1250.0)).text,
               Catch::EndsWith("as with --batch 2048, which has less latency"));
    CHECK_THAT(report::make_batching(5000, cut(10.0)).text,
               Catch::EndsWith("for only 10.0 with --batch 2048"));
    const nlohmann::ordered_json json = report::to_json(batching);
    CHECK(json["asked"] == 5000);
    CHECK(json["at_a_time"] == 2500);
    CHECK(json["limited_by"] == "unified_buffer");
}

TEST_CASE("A network without weights fetches none again", "[report]") {
    machine::BatchFacts facts = cut(0.0);
    facts.images_a_fetch = 0.0;
    CHECK(report::make_batching(5000, facts).text ==
          "the unified buffer holds 2,968 images, so 5,000 go through in 2 slices");
}

TEST_CASE("First layers that take a batch in groups are named", "[report]") {
    machine::BatchFacts facts = cut(20.0);
    facts.at_a_time = 5000;
    facts.grouped_layers = 3;
    facts.group = 2000;
    const report::Batching batching = report::make_batching(5000, facts);
    CHECK(batching.slices == 1);
    CHECK_THAT(batching.text,
               Catch::StartsWith("the unified buffer holds 2,968 images of all layers, so the first 3 "
                                 "layers take 5,000 in groups; each group"));
}
