#include "sim/study/validate/plots/labels.h"

#include <catch2/catch.hpp>

namespace systole::validate {
namespace {

Labels plane() {
    return Labels({0.0, 0.0}, {200.0, 100.0});
}

TEST_CASE("A label alone stands above its dot, to the right", "[sim][validate]") {
    Labels labels = plane();
    const Labels::Place place = labels.place({100.0, 50.0}, "CNN0");
    CHECK(place.at.x > 100.0);
    CHECK(place.at.y < 50.0);
    CHECK(place.anchor == Anchor::Start);
}

TEST_CASE("A label keeps away from a line", "[sim][validate]") {
    Labels labels = plane();
    labels.avoid_line({100.0, 44.0}, {200.0, 30.0});
    const Labels::Place place = labels.place({100.0, 50.0}, "CNN0");
    CHECK(place.at.y > 50.0);
}

TEST_CASE("A label keeps away from a dot, and from a label", "[sim][validate]") {
    Labels labels = plane();
    labels.avoid_dot({115.0, 40.0});
    const Labels::Place first = labels.place({100.0, 50.0}, "CNN0");
    CHECK(first.at.y > 50.0);
    const Labels::Place second = labels.place({100.0, 50.0}, "CNN1");
    CHECK((second.at.y != first.at.y || second.anchor != first.anchor));
}

TEST_CASE("A label stays in the plane", "[sim][validate]") {
    Labels labels = plane();
    CHECK(labels.place({195.0, 50.0}, "CNN0").anchor == Anchor::End);
    CHECK(labels.place({20.0, 3.0}, "CNN0").at.y > 3.0);
}

TEST_CASE("A text is as wide as its letters", "[sim][validate]") {
    CHECK(text_width("") == 0.0);
    CHECK(text_width("memory") > text_width("clock"));
    CHECK(text_width("mm") == 2.0 * text_width("m"));
    CHECK(text_width("il") < text_width("ab"));
}

}  // namespace
}  // namespace systole::validate
