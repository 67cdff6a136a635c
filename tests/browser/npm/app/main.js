import { connect } from "langfx-web";
import shop from "./shop.py";

const langfx = await connect({ modules: [shop], store: "memory", offline: true });
document.querySelector("output").textContent = await langfx.call("shop:greeting");
