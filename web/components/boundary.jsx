// SPDX-License-Identifier: Apache-2.0
import { Component } from "preact";
import { t } from "../lib/i18n.js";

/**
 * A mistake of ours, or an answer that nobody foresaw, costs the part it is in and not the whole page. Newer data (`version`) gets another chance.
 * @extends {Component<{ version?: string, children: import("preact").ComponentChildren }, { error: string | null }>}
 */
export class Boundary extends Component {
  /** @param {{ version?: string, children: import("preact").ComponentChildren }} props */
  constructor(props) {
    super(props);
    this.state = { error: null };
  }

  /** @param {unknown} error */
  static getDerivedStateFromError(error) {
    return { error: String(error) };
  }

  /** @param {unknown} error */
  componentDidCatch(error) {
    console.error(error);
  }

  /** @param {{ version?: string }} before */
  componentDidUpdate(before) {
    if (before.version !== this.props.version && this.state.error !== null) this.setState({ error: null });
  }

  render() {
    if (this.state.error === null) return this.props.children;
    return (
      <div class="state is-failure" role="alert">
        <h2>{t("error.own")}</h2>
        <p>
          <code>{this.state.error}</code>
        </p>
        <p>
          <button type="button" class="btn is-small" onClick={() => this.setState({ error: null })}>
            {t("error.retry")}
          </button>
        </p>
      </div>
    );
  }
}
