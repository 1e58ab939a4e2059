// Light or dark: the system's setting, until the user changes the switch.
import { h } from './dom.js';

const preference = matchMedia('(prefers-color-scheme: dark)');
const listeners = [];

export function isDark() {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === 'dark' : preference.matches;
}

/// Calls `redraw` whenever the colours have changed.
export function onThemeChange(redraw) {
    listeners.push(redraw);
}

function tell() {
    for (const redraw of listeners) redraw();
}

export function themeSwitch() {
    preference.addEventListener('change', tell);
    const label = () => (isDark() ? 'Light' : 'Dark');
    const button = h('button', {
        type: 'button',
        id: 'theme',
        title: 'Light or dark',
        onclick: () => {
            document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
            tell();
        },
    }, label());
    onThemeChange(() => {
        button.textContent = label();
    });
    return button;
}
