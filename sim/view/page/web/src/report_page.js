// A report, or several beside each other.
import { drawCharts, dropCharts } from './chart.js';
import { choice, h } from './dom.js';
import { accuracy } from './sections/accuracy.js';
import { bufferMap } from './sections/buffer_map.js';
import { comparison } from './sections/comparison.js';
import { configuration } from './sections/configuration.js';
import { cores } from './sections/cores.js';
import { counters } from './sections/counters.js';
import { cycles } from './sections/cycles.js';
import { energy } from './sections/energy.js';
import { explanations } from './sections/explanations.js';
import { headline } from './sections/headline.js';
import { layers } from './sections/layers.js';
import { machine } from './sections/machine.js';
import { memory } from './sections/memory.js';
import { outputs } from './sections/outputs.js';
import { predictions } from './sections/predictions.js';
import { requests } from './sections/requests.js';
import { roofline } from './sections/roofline.js';
import { training } from './sections/training.js';
import { themeSwitch } from './theme.js';

/// The sections in the order of the page. Each makes its section from a report, or several, or null if the report has no
/// data for it.
const sections = [headline, training, requests, cycles, cores, explanations, roofline, layers, machine, energy, memory, bufferMap,
    outputs, predictions, accuracy, counters, configuration];

const links = h('nav', { 'aria-label': 'Sections' });
const compared = h('div');
const view = h('div');

function linkTo(element) {
    const title = element.id === 'headline' ? 'Headline' : element.querySelector('h1, h2').textContent;
    return h('a', { href: `#${element.id}` }, title);
}

/// Makes a section. If it fails, as it may for a report of another version, the other sections are still shown.
function made(make, report) {
    try {
        return make(report);
    } catch (error) {
        console.error(error);
        return h('section', null, h('p', { class: 'meaning' }, `A section could not be made of this report: ${error}`));
    }
}

function show(report) {
    dropCharts(view);
    view.replaceChildren(...sections.flatMap((make) => made(make, report)).filter((each) => each !== null));
    links.replaceChildren(...[...document.querySelectorAll('main section[id]')].map(linkTo));
    drawCharts();
}

function footer() {
    return h('footer', null,
        h('p', null, 'Made by Systole, a cycle-accurate simulator of the Tensor Processing Unit, from report.json; '
            + 'docs/report.md explains each picture. In a chart, the arrow keys show one value after the other.'),
        h('details', null, h('summary', null, 'Licences of the software in this page'),
            h('pre', null, document.getElementById('notices').textContent)));
}

/// Fills the page. Each report is {"name", "report"}; `sideBySide` is the comparison of several.
export function showReports(page, reports, sideBySide) {
    const { report: first } = reports[0];
    document.title = `${first.model} on ${first.machine}: Systole report`;
    page.append(
        h('header', null, h('div', { class: 'top' }, h('span', { class: 'brand' }, 'Systole'), links, themeSwitch())),
        h('main', null, compared, view),
        footer());
    if (reports.length > 1) {
        compared.append(comparison(sideBySide), h('div', { class: 'row' }, h('h3', null, 'In detail'),
            choice('Report', reports.map(({ name }, index) => ({ value: index, name })),
                (index) => show(reports[index].report))));
    }
    show(first);
}
