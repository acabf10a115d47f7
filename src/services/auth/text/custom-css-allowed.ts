/** Allow-lists for a tenant's own CSS. */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** CSS nodes that have no effect by themselves. */
export const nodes = words(`
  StyleSheet Rule Block SelectorList Selector TypeSelector ClassSelector IdSelector AttributeSelector PseudoClassSelector
  PseudoElementSelector Combinator NestingSelector Nth AnPlusB Value Identifier Number Dimension Percentage Hash Operator
  Parentheses Comment WhiteSpace AtrulePrelude MediaQueryList MediaQuery Condition Feature FeatureRange Ratio
`);

export const rulesWithAt = words('media keyframes');

/** Properties for appearance and layout: none that position elements over others or change the text of a page. */
export const properties = words(`
  color background background-color background-image background-position background-repeat background-size background-clip
  background-origin background-attachment accent-color caret-color color-scheme opacity
  border border-color border-style border-width border-radius border-collapse border-spacing
  border-top border-right border-bottom border-left border-inline border-block
  border-top-color border-right-color border-bottom-color border-left-color
  border-top-style border-right-style border-bottom-style border-left-style
  border-top-width border-right-width border-bottom-width border-left-width
  border-top-left-radius border-top-right-radius border-bottom-left-radius border-bottom-right-radius
  outline outline-color outline-style outline-width outline-offset box-shadow text-shadow filter
  font font-family font-size font-style font-weight font-stretch font-variant font-variant-numeric font-feature-settings
  font-kerning font-size-adjust line-height letter-spacing word-spacing text-align text-decoration text-decoration-color
  text-decoration-line text-decoration-style text-decoration-thickness text-underline-offset text-transform text-wrap
  text-overflow white-space word-break overflow-wrap hyphens tab-size vertical-align
  display box-sizing width min-width max-width height min-height max-height aspect-ratio
  margin margin-top margin-right margin-bottom margin-left margin-inline margin-block
  margin-inline-start margin-inline-end margin-block-start margin-block-end
  padding padding-top padding-right padding-bottom padding-left padding-inline padding-block
  padding-inline-start padding-inline-end padding-block-start padding-block-end
  flex flex-basis flex-direction flex-flow flex-grow flex-shrink flex-wrap order
  grid-template grid-template-columns grid-template-rows grid-template-areas grid-area grid-column grid-row grid-auto-flow
  grid-auto-columns grid-auto-rows gap row-gap column-gap place-content place-items place-self
  align-content align-items align-self justify-content justify-items justify-self float clear overflow overflow-x overflow-y
  list-style list-style-type list-style-position cursor object-fit object-position resize
  transform transform-origin transition transition-property transition-duration transition-timing-function transition-delay
  animation animation-name animation-duration animation-timing-function animation-delay animation-iteration-count
  animation-direction animation-fill-mode animation-play-state
`);

/** Colours, lengths and shapes: nothing that refers to an external resource. */
export const functions = words(`
  rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix light-dark var calc min max clamp
  linear-gradient radial-gradient conic-gradient repeating-linear-gradient repeating-radial-gradient repeating-conic-gradient
  cubic-bezier linear steps minmax repeat fit-content
  translate translatex translatey scale scalex scaley rotate skew skewx skewy matrix
  blur brightness contrast drop-shadow grayscale hue-rotate invert saturate sepia
`);
