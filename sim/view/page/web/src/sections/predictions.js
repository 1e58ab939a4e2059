// The network's predictions, with the pictures; if there are labels, wrong predictions come first.
import { h, section, table } from '../dom.js';
import { counted, grouped } from '../format.js';

/// The pixels of a picture as the browser paints them.
function paint(picture, { height, width, channels }) {
    const pixels = Uint8Array.from(atob(picture.pixels), (letter) => letter.charCodeAt(0));
    const canvas = h('canvas', { width, height, 'aria-hidden': 'true' });
    const context = canvas.getContext('2d');
    const image = context.createImageData(width, height);
    for (let i = 0; i < width * height; ++i) {
        for (let colour = 0; colour < 3; ++colour) {
            image.data[4 * i + colour] = pixels[channels * i + Math.min(colour, channels - 1)];
        }
        image.data[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, 0);
    return canvas;
}

function figure(picture, shape) {
    const { index, prediction, label, probability } = picture;
    const isWrong = label !== undefined && label !== prediction;
    const sure = probability === undefined ? null : h('span', { class: 'quiet' }, ` ${Math.round(100 * probability)} %`);
    return h('figure', { class: isWrong ? 'picture wrong' : 'picture', title: `image ${index}` },
        paint(picture, shape), h('figcaption', null, h('b', null, String(prediction)), sure, isWrong ? h('div', null, `is ${label}`) : null));
}

function summary(report, { pictures, left_out: leftOut }) {
    const labelled = report.accuracy !== null;
    const right = labelled ? Math.round(report.accuracy * report.inferences) : 0;
    const wrong = report.inferences - right;
    const shown = counted(pictures.length, 'picture');
    const rest = leftOut > 0 ? `, ${grouped(leftOut)} left out` : '';
    if (!labelled) return `The input pictures with the predicted class; ${shown}${rest}.`;
    return `${grouped(right)} right, ${grouped(wrong)} wrong, the wrong ones first; ${shown}${rest}. `
        + 'Below each picture: the predicted class, its probability and, if it is wrong, the label.';
}

export function predictions(report) {
    if (report.pictures && report.pictures.pictures.length > 0) {
        return section('predictions', 'Predictions', summary(report, report.pictures),
            h('div', { class: 'pictures', tabindex: '0', role: 'region', 'aria-label': 'Pictures' }, report.pictures.pictures.map((each) => figure(each, report.pictures))));
    }
    if (report.predictions.length === 0) return null;
    const rows = report.predictions.map((prediction, index) => [grouped(index), String(prediction)]);
    return section('predictions', 'Predictions',
        `The predicted class of each input, the first ${grouped(rows.length)} of ${grouped(report.inferences)}.`,
        h('details', null, h('summary', null, 'Show them'),
            table(['input', 'class'], rows, { class: 'numbers', label: 'Predictions' })));
}
