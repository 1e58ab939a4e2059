#include "compiler/schedule/stages.h"

#include <array>
#include <catch2/catch.hpp>
#include <stdexcept>

namespace systole::schedule {

TEST_CASE("Steps belong to stages", "[compiler][schedule]") {
    const Stages stages(std::array{2U, 3U}, 5, 0);
    CHECK(stages.count() == 3);
    CHECK(stages.of_step(0) == 0);  // reads the input
    CHECK(stages.of_step(1) == 1);
    CHECK(stages.of_step(2) == 1);
    CHECK(stages.of_step(3) == 2);
    CHECK(stages.of_step(4) == 3);
    CHECK(stages.of_step(5) == 3);
    CHECK(stages.of_step(6) == 4);  // writes the output
}

TEST_CASE("Stages begin at ascending layers", "[compiler][schedule]") {
    CHECK_THROWS_AS(Stages(std::array{0U}, 3, 0), std::logic_error);
    CHECK_THROWS_AS(Stages(std::array{3U}, 3, 0), std::logic_error);
    CHECK_THROWS_AS(Stages(std::array{2U, 2U}, 3, 0), std::logic_error);
}

TEST_CASE("A slice enters a stage when those before it are far enough", "[compiler][schedule]") {
    const Stages stages(std::array{1U, 2U}, 3, 0);
    CHECK_FALSE(stages.may_enter(1, 1, 1));
    CHECK(stages.may_enter(1, 1, 2));
    CHECK_FALSE(stages.may_enter(1, 2, 2));
    CHECK(stages.may_enter(1, 2, 3));
    CHECK_FALSE(stages.may_enter(1, 3, 3));
    CHECK(stages.may_enter(2, 3, 3));  // there is no fourth stage to leave

    const Stages slack(std::array{1U, 2U}, 3, 1);
    CHECK_FALSE(slack.may_enter(1, 1, 1));
    CHECK(slack.may_enter(1, 2, 2));
    CHECK_FALSE(slack.may_enter(1, 3, 2));
}

TEST_CASE("A tensor of several stages has rows for the slices in them", "[compiler][schedule]") {
    // The input, two tensors of the first stage, one between the stages, one of the second, the output.
    const std::array<Lifetime, 6> one_image{{{.rows = 1, .first_step = 0, .last_step = 1},
                                             {.rows = 7, .first_step = 1, .last_step = 2},
                                             {.rows = 5, .first_step = 2, .last_step = 3},
                                             {.rows = 2, .first_step = 3, .last_step = 4},
                                             {.rows = 3, .first_step = 4, .last_step = 5},
                                             {.rows = 4, .first_step = 5, .last_step = 6}}};
    const std::uint32_t images = 10;
    const StagedRows tight = allocate_stages(one_image, images, Stages(std::array{3U}, 5, 0));
    CHECK(tight.copies == std::vector<std::uint32_t>{2, 1, 1, 2, 1, 2});
    CHECK(tight.turn == 2);
    CHECK(tight.allocation.rows == images * (2 * 1 + 7 + 5 + 2 * 2 + 3 + 2 * 4));
    const StagedRows loose = allocate_stages(one_image, images, Stages(std::array{3U}, 5, 1));
    CHECK(loose.copies == std::vector<std::uint32_t>{3, 1, 1, 3, 1, 3});
    CHECK(loose.turn == 3);
    // Whichever tensor lies in another one has its rows, and its copies.
    for (std::size_t inner = 0; inner < one_image.size(); ++inner) {
        const std::size_t outer = (inner + 3) % one_image.size();
        CAPTURE(inner, outer);
        std::array<Lifetime, 6> nested = one_image;
        nested[inner] = {.rows = nested[outer].rows,
                         .first_step = nested[outer].first_step,
                         .last_step = nested[outer].last_step,
                         .lies_in = outer};
        const StagedRows staged = allocate_stages(nested, images, Stages(std::array{3U}, 5, 0));
        CHECK(staged.allocation.first_row[inner] == staged.allocation.first_row[outer]);
        CHECK(staged.copies[inner] == staged.copies[outer]);
        CHECK(staged.copies[outer] == tight.copies[outer]);
    }
    // Tensors of one stage share rows when they do not live together.
    const std::array<Lifetime, 2> apart{
        {{.rows = 7, .first_step = 1, .last_step = 1}, {.rows = 5, .first_step = 2, .last_step = 3}}};
    CHECK(allocate_stages(apart, 1, Stages({}, 5, 0)).allocation.rows == 7);
}

}  // namespace systole::schedule
