#include "sim/view/page/page.h"

#include <initializer_list>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/view/page/side_by_side.h"
#include "sim/view/report/figures.h"
#include "sim/view/report/main_unit.h"

namespace systole::page {
namespace {

using Json = nlohmann::ordered_json;

/// The limit on predictions that the page lists if there are no pictures.
constexpr std::size_t most_predictions = 200;

/// The report without the data that grows with the run and that the page does not show.
Json as_shown(Json report) {
    for (const char* const key : {"instruction_times", "registers", "buffers"}) report.erase(key);
    if (report.contains("cores_alike")) {
        for (Json& group : report["cores_alike"]) group.erase("instruction_times");
    }
    Json& predictions = report.at("predictions");
    if (predictions.size() > most_predictions) {
        predictions.erase(predictions.begin() + most_predictions, predictions.end());
    }
    return report;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    std::string replaced;
    std::size_t begin = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, begin)) {
        replaced.append(text, begin, at - begin).append(by);
        begin = at + what.size();
    }
    if (begin == 0) return;
    text = replaced.append(text, begin);
}

/// The page with data in its places, which have the order of the list.
std::string filled(std::string_view page,
                   std::initializer_list<std::pair<std::string_view, std::string>> places) {
    std::string html;
    for (const auto& [place, data] : places) {
        const std::size_t at = page.find(place);
        if (at == std::string_view::npos) {
            throw std::logic_error("the embedded page has no place for its data");
        }
        html.append(page.substr(0, at)).append(data);
        page.remove_prefix(at + place.size());
    }
    return html.append(page);
}

}  // namespace

std::string to_script_text(const Json& json) {
    constexpr auto replace = Json::error_handler_t::replace;
    std::string text = json.dump(-1, ' ', false, replace);
    // These characters occur only inside JSON strings, where the escapes are equivalent.
    replace_all(text, "<", "\\u003c");
    replace_all(text, "\xE2\x80\xA8", "\\u2028");
    replace_all(text, "\xE2\x80\xA9", "\\u2029");
    return text;
}

std::string to_html(std::span<const NamedReport> reports, std::size_t against) {
    const std::vector<std::string> names = short_names(reports);
    Json shown = Json::array();
    for (std::size_t i = 0; i < reports.size(); ++i) {
        shown.push_back({{"name", names[i]}, {"report", as_shown(reports[i].report)}});
    }
    const Json compared = reports.size() > 1 ? to_json(side_by_side(reports, against)) : Json(nullptr);
    return filled(embedded_page(), {{"@FIGURES@", to_script_text(report::cards_json())},
                                    {"@PART_WORDS@", to_script_text(report::part_words_json())},
                                    {"@REPORTS@", to_script_text(shown)},
                                    {"@SIDE_BY_SIDE@", to_script_text(compared)},
                                    {"@STUDY@", "null"},
                                    {"@POINT_REPORTS@", ""}});
}

std::string study_to_html(const Json& study, const std::string& point_reports) {
    return filled(embedded_page(), {{"@FIGURES@", to_script_text(report::cards_json())},
                                    {"@PART_WORDS@", to_script_text(report::part_words_json())},
                                    {"@REPORTS@", "[]"},
                                    {"@SIDE_BY_SIDE@", "null"},
                                    {"@STUDY@", to_script_text(study)},
                                    {"@POINT_REPORTS@", point_reports}});
}

}  // namespace systole::page
